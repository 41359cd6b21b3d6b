import { Empty } from "../components/states.tsx";
import { Page } from "../components/page.tsx";
import { hrefOf, Link } from "../router.tsx";

export function NotFound() {
  return (
    <Page title="Nothing is here">
      <Empty title="The dashboard has no such page.">
        <p>
          <Link href={hrefOf("")}>Go to the overview</Link>
        </p>
      </Empty>
    </Page>
  );
}
