/** Returns the problem of the value of `$ref`, or undefined if it refers to a part of the same schema. */
export function findReferenceProblem(root: unknown, reference: unknown): string | undefined {
  if (typeof reference !== 'string') return 'must be a string';
  if (!reference.startsWith('#')) return 'must refer to a part of this schema, for example #/$defs/name';
  const fragment = decode(reference.slice(1));
  if (fragment === undefined) return 'must be a URI fragment';
  const exists =
    fragment === '' || (fragment.startsWith('/') ? hasTarget(root, fragment) : hasAnchor(root, fragment));
  return exists ? undefined : 'refers to a missing part of this schema';
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function hasTarget(root: unknown, pointer: string): boolean {
  let target = root;
  for (const step of pointer.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return false;
    target = (target as Record<string, unknown>)[name];
  }
  return (
    typeof target === 'boolean' || (typeof target === 'object' && target !== null && !Array.isArray(target))
  );
}

function hasAnchor(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { $anchor, $dynamicAnchor } = value as Record<string, unknown>;
  return (
    $anchor === name ||
    $dynamicAnchor === name ||
    Object.values(value).some((member) => hasAnchor(member, name))
  );
}
