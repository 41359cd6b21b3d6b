import { useEffect, useState } from "preact/hooks";
import { go, hrefOf, place } from "../router.tsx";

const ID = /^[a-z]+_[0-9A-Za-z]{22}$/;

/** Looks for an object by its own id, or for those of an owner by the owner's, which the address keeps as `of`. */
export function IdSearch({ page, owner, hint }: { page: string; owner: string; hint: string }) {
  const of = place.value.query.get("of") ?? "";
  const [text, setText] = useState(of);
  // The menu leads to the whole list, while this field stays where it is.
  useEffect(() => setText(of), [of]);
  const look = (value: string) => {
    setText(value);
    const id = value.trim();
    if (id === "") go(hrefOf(page), { replace: true });
    else if (ID.test(id)) go(id.startsWith(owner) ? hrefOf(page, "", { of: id }) : hrefOf(page, id), { replace: true });
  };
  return (
    <label class="grow">
      Search
      <input type="search" value={text} placeholder={hint} onInput={(event) => look(event.currentTarget.value)} />
    </label>
  );
}
