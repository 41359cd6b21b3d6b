// Goals of the figures: of the ratio or, if a unit is named, of the measured value itself.

/** At least the bound. */
export function atLeast(bound, unit) {
  return { text: `≥ ${written(bound, unit)}`, better: "more", unit, fits: (number) => number >= bound };
}

/** At most the bound. */
export function atMost(bound, unit) {
  return { text: `≤ ${written(bound, unit)}`, better: "less", unit, fits: (number) => number <= bound };
}

/** Between two bounds. */
export function within(min, max) {
  return { text: `${written(min)} to ${written(max)}`, fits: (number) => number >= min && number <= max };
}

/** Zero. */
export function none() {
  return { text: "0", unit: "", fits: (number) => number === 0 };
}

/** Returns whether a row's goal is met: `yes`, `no`, `not measured`, or an empty text if it has none. */
export function verdictOf({ goal, ratio, value }) {
  if (goal === undefined) return "";
  const number = goal.unit === undefined ? ratio : value;
  if (number === undefined) return "not measured";
  return goal.fits(number) ? "yes" : "no";
}

function written(bound, unit) {
  return unit === undefined ? bound.toFixed(2) : `${bound} ${unit}`;
}
