import { type Static, Type } from "typebox";
import { ENVIRONMENTS } from "../environments.ts";
import { nullable } from "./fields.ts";

/** What `GET /v1/me` answers: whom the credential stands for and what it may do. */
export const Identity = Type.Object(
  {
    object: Type.Literal("identity"),
    account: Type.Object({ id: Type.String(), name: Type.String() }),
    user: nullable(Type.Object({ id: Type.String(), email: Type.String() })),
    environment: Type.Enum([...ENVIRONMENTS]),
    livemode: Type.Boolean(),
    credential: Type.Object({
      kind: Type.Enum(["secret_key", "restricted_key", "access_token"]),
      id: Type.String(),
      prefix: Type.String(),
      last4: Type.String(),
    }),
    scopes: Type.Array(Type.String()),
  },
  { $id: "Identity" },
);
export type Identity = Static<typeof Identity>;
