import { scriptedPageHeaders } from "../../http/pages/page.ts";

/** Headers of every page of the documentation. */
export const DOCUMENT_HEADERS = scriptedPageHeaders("'none'");

/** Path of the documentation, and of the API reference's first page. */
export const DOCS_PATH = "/docs";
/** Path of the guides, all in one folder. */
export const GUIDES_PATH = `${DOCS_PATH}/guides`;
/** The page of the API reference that a browser gets for a name that no page has. */
export const MISSING_PAGE = "404";
/** Path of the pages of the API reference, each of which has the operations of one group. */
export const REFERENCE_PATH = `${DOCS_PATH}/reference`;
