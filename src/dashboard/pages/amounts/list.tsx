import { usePages } from "../../api/use-query.ts";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { place } from "../../router.tsx";
import { IdSearch } from "../id-search.tsx";
import { chosenStatus, StatusFilter } from "../status-filter.tsx";
import { CreateAmount } from "./create.tsx";
import type { Amount, AmountKind } from "./kind.ts";
import { AmountTable } from "./table.tsx";

/** All orders or payments, by status and by whom they belong to. */
export function AmountList({ kind }: { kind: AmountKind }) {
  const { page, title, noun, statuses, owner } = kind;
  const status = chosenStatus();
  const of = place.value.query.get("of") ?? "";
  const pages = usePages<Amount>(`/v1/${page}`, { status, [owner.name]: of }, { every: 5000 });
  return (
    <Page
      title={title}
      actions={
        <CreateButton label={`Create ${noun}`} dialog={(close) => <CreateAmount kind={kind} onClose={close} />} />
      }
    >
      <div class="filters" role="search">
        <StatusFilter page={page} statuses={statuses} />
        <IdSearch page={page} owner={owner.idPrefix} hint={`Id of the ${noun}, or of its ${owner.name}`} />
      </div>
      <AmountTable
        kind={kind}
        label={`${title}, newest first`}
        pages={pages}
        empty={
          <Empty title={status === "" && of === "" ? `No ${page} yet.` : `No ${noun} fits.`}>
            <p>Create one here, or with POST /v1/{page}.</p>
          </Empty>
        }
      />
    </Page>
  );
}
