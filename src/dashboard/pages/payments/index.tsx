import { place } from "../../router.tsx";
import { PAYMENTS } from "../amounts/kind.ts";
import { AmountList } from "../amounts/list.tsx";
import { PaymentDetail } from "./detail.tsx";

export function Payments() {
  const { id } = place.value;
  return id === "" ? <AmountList kind={PAYMENTS} /> : <PaymentDetail id={id} />;
}
