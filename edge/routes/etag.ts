/**
 * The ETag header of a resource: its revision, for If-Match. No header without a revision, which services of older releases
 * do not send.
 */
export function etag(revision: number | undefined): Record<string, string> {
  return revision === undefined ? {} : { etag: `"${revision}"` };
}
