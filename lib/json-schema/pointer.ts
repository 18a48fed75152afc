/** A member or index as one step of a JSON Pointer (RFC 6901). */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
