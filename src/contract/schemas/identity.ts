import { type Static, Type } from "typebox";
import { ENVIRONMENTS } from "../environments.ts";
import { SCOPES } from "../scopes.ts";
import { idOf, Livemode, nullable } from "./fields.ts";

/** What `GET /v1/me` answers: whom the credential stands for and what it may do. */
export const Identity = Type.Object(
  {
    object: Type.Literal("identity"),
    account: Type.Object({ id: idOf("account"), name: Type.String({ examples: ["Example"] }) }),
    user: nullable(Type.Object({ id: idOf("user"), email: Type.String({ format: "email" }) })),
    environment: Type.Enum([...ENVIRONMENTS]),
    livemode: Livemode,
    credential: Type.Object({
      kind: Type.Enum(["secret_key", "restricted_key", "access_token", "session"]),
      id: Type.String({ examples: ["key_06Fv3Tt0q1Yd8mWc5KxLrB"] }),
      prefix: Type.String({ examples: ["sk_sandbox_a"] }),
      last4: Type.String({ examples: ["9fQ2"] }),
    }),
    scopes: Type.Array(Type.Enum([...SCOPES])),
  },
  { $id: "Identity", description: "Whom a credential stands for" },
);
export type Identity = Static<typeof Identity>;
