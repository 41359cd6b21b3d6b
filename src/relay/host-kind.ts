/** Where `localhost` may not be what its user means: inside a container, or on the Linux side of Windows. */
export type HostKind = "plain" | "container" | "wsl";
