export function changedSinceBuild(root?: string): string | undefined;
