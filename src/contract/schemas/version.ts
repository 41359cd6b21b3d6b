import { Type } from "typebox";

const VersionDate = (description: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description, examples: ["2026-11-01"] });

/** The response of `GET /v1/versions`. */
export const VersionList = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(VersionDate("A date for `Service-Version`"), { description: "Oldest first" }),
    latest: VersionDate("The newest version"),
    pinned: VersionDate("What holds for the account where no version is named"),
  },
  { $id: "VersionList", description: "Supported versions" },
);
