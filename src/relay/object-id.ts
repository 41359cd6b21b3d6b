/** The id of the object that an event is about (`data.object.id`); undefined where its body does not tell. */
export function objectIdOf(body: string): string | undefined {
  try {
    const id: unknown = (JSON.parse(body) as { data?: { object?: { id?: unknown } } } | null)?.data?.object?.id;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
