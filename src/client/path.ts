/** A path of the API with its parameters encoded: apiPath`/v1/customers/${id}`. */
export function apiPath(texts: TemplateStringsArray, ...parameters: readonly string[]): string {
  return parameters.reduce((path, parameter, i) => path + segment(parameter) + texts[i + 1]!, texts[0]!);
}

/** `.` and `..` survive percent-encoding, and URL parsing would then walk up the path. */
function segment(parameter: string): string {
  const encoded = encodeURIComponent(parameter);
  return encoded === "." || encoded === ".." || encoded === "" ? "%20" : encoded;
}
