import { go, hrefOf } from "../router.tsx";

/** A search that goes straight to an object when its whole id is given. */
export function SearchField(props: {
  page: string;
  idPrefix: string;
  value: string;
  onInput: (value: string) => void;
  hint: string;
}) {
  const isId = new RegExp(`^${props.idPrefix}[0-9A-Za-z]{22}$`);
  return (
    <div class="filters" role="search">
      <label class="grow">
        Search
        <input
          type="search"
          value={props.value}
          placeholder={props.hint}
          onInput={(event) => {
            const text = event.currentTarget.value.trim();
            if (isId.test(text)) go(hrefOf(props.page, text));
            else props.onInput(text);
          }}
        />
      </label>
    </div>
  );
}
