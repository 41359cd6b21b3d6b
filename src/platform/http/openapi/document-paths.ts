/** The OpenAPI document. */
export const DOCUMENT_PATH = "/openapi.json";
/** Sequences of its operations, as an Arazzo document. */
export const WORKFLOWS_PATH = "/arazzo.json";
