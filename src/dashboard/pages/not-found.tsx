import { Empty, Page } from "../components/page.tsx";
import { hrefOf, Link } from "../router.tsx";

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This page does not exist">
        <p>
          <Link href={hrefOf("")}>Go to the overview</Link>
        </p>
      </Empty>
    </Page>
  );
}
