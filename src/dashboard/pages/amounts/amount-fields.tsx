import type { CallError } from "../../api/call.ts";
import { money } from "../../format.ts";
import { Field } from "../../components/form.tsx";

/** Amount and currency: in the minor unit, as the API takes it, with what it comes to. */
export function AmountFields(props: {
  amount: string;
  currency: string;
  onAmount: (value: string) => void;
  onCurrency: (value: string) => void;
  error: CallError | undefined;
}) {
  const { amount, currency, error } = props;
  const isReadable = /^\d+$/.test(amount) && /^[A-Z]{3}$/.test(currency);
  return (
    <>
      <Field
        label="Amount"
        name="amount"
        value={amount}
        onInput={props.onAmount}
        error={error}
        required
        hint={isReadable ? money(Number(amount), currency) : "In the currency's minor unit: 1999 is 19.99"}
        placeholder="1999"
      />
      <Field
        label="Currency"
        name="currency"
        value={currency}
        onInput={props.onCurrency}
        error={error}
        required
        placeholder="EUR"
      />
    </>
  );
}

/** A number where one was typed; other text goes to the platform, which says what is wrong with it. */
export function amountOf(text: string): number | string {
  return /^\d+$/.test(text.trim()) ? Number(text) : text;
}
