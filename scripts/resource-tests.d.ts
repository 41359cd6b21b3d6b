export const RESOURCE_TESTS: readonly string[];
