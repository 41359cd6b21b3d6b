import { place } from "../../router.tsx";
import { ORDERS } from "../amounts/kind.ts";
import { AmountList } from "../amounts/list.tsx";
import { OrderDetail } from "./detail.tsx";

export function Orders() {
  const { id } = place.value;
  return id === "" ? <AmountList kind={ORDERS} /> : <OrderDetail id={id} />;
}
