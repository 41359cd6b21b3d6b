// Programs of Debian's packages, for the benchmarks.
export { environmentOf, findProgram } from "../test/interop/support/debian.ts";
