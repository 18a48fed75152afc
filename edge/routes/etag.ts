/** The version of what is answered, for If-Match. */
export function etag(version: number | undefined): Record<string, string> {
  return { etag: `"${version ?? 0}"` };
}
