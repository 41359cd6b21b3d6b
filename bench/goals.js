// What figures should come to: goals of the ratio, or, where a unit is named, of the measured value itself.

/** No less than the bound. */
export function atLeast(bound, unit) {
  return { text: `≥ ${written(bound, unit)}`, unit, fits: (number) => number >= bound };
}

/** No more than the bound. */
export function atMost(bound, unit) {
  return { text: `≤ ${written(bound, unit)}`, unit, fits: (number) => number <= bound };
}

/** Neither less than the one nor more than the other. */
export function within(least, most) {
  return { text: `${written(least)} to ${written(most)}`, fits: (number) => number >= least && number <= most };
}

/** Not one. */
export function none() {
  return { text: "0", unit: "", fits: (number) => number === 0 };
}

/** Whether a row's goal is met: `yes`, `no`, `not measured`, or nothing where it has none. */
export function verdictOf({ goal, ratio, value }) {
  if (goal === undefined) return "";
  const number = goal.unit === undefined ? ratio : value;
  if (number === undefined) return "not measured";
  return goal.fits(number) ? "yes" : "no";
}

function written(bound, unit) {
  return unit === undefined ? bound.toFixed(2) : `${bound} ${unit}`;
}
