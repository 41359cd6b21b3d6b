import { SCOPED_RESOURCES, SCOPES } from "../../../contract/scopes.ts";

const ROWS = [...SCOPED_RESOURCES, "listen"];
const ACTIONS = ["read", "write"];

/** Scopes as a table of resource and action; write does not imply read. */
export function ScopeTable(props: { chosen: ReadonlySet<string>; onChange: (chosen: ReadonlySet<string>) => void }) {
  const toggle = (scope: string) => {
    const chosen = new Set(props.chosen);
    if (!chosen.delete(scope)) chosen.add(scope);
    props.onChange(chosen);
  };
  return (
    <table class="scopes">
      <caption>What it may do</caption>
      <thead>
        <tr>
          <th scope="col">Resource</th>
          {ACTIONS.map((action) => (
            <th key={action} scope="col">
              {action}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ROWS.map((resource) => (
          <tr key={resource}>
            <th scope="row">{resource}</th>
            {ACTIONS.map((action) => (
              <td key={action}>
                {(SCOPES as readonly string[]).includes(`${resource}:${action}`) && (
                  <input
                    type="checkbox"
                    aria-label={`${resource}:${action}`}
                    checked={props.chosen.has(`${resource}:${action}`)}
                    onChange={() => toggle(`${resource}:${action}`)}
                  />
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
