/** The ETag header of a versioned resource, for If-Match. */
export function etag(version: number | undefined): Record<string, string> {
  return { etag: `"${version ?? 0}"` };
}
