/** Returns the list of the pages for language models (https://llmstxt.org). The platform makes its links absolute. */
export function llmsText(groups, nameOf, references) {
  const itemOf = ({ title, file, about }) => `- [${title}](${nameOf(file)}.md)${about && `: ${about}`}`;
  const list = groups.map(({ name, pages }) => `## ${name}\n\n${pages.map(itemOf).join("\n")}`);
  return `# Service

> A command line for webhook development, and the platform that it talks to: the API of a payments platform with signed
> webhooks, over HTTP, with JSON under /v1.

Send an API key or an OAuth access token as \`Authorization: Bearer …\`. A credential belongs to the sandbox or to the live
mode. Errors are problem details (RFC 9457) with a stable \`code\`. Each page of /docs/guides is also Markdown: replace \`.html\`
with \`.md\`.

## API

- [OpenAPI document](/openapi.json): every operation, schema, event and error
- [API reference](/docs/reference): the same, for people, and as Markdown: 
  ${references.map((name) => `[${name}](reference-${name}.md)`).join(", ")}
- [OAuth metadata](/.well-known/oauth-authorization-server): authorization code with PKCE, device codes, refresh, revocation

${list.join("\n\n")}

## Tools

- \`service-cli\`: the command line, with a local platform, webhook forwarding and an MCP server (\`service mcp\`)
- \`/mcp\`: the Model Context Protocol over Streamable HTTP, with a sandbox credential
- \`service-cli/webhooks\`: the JavaScript library that verifies and parses deliveries
`;
}
