/** Protected resource metadata (RFC 9728) of an MCP server, as far as it is used. */
export interface ResourceMetadata {
  resource: string;
  authorizationServers: string[];
  /** Undefined: the metadata names none. */
  scopesSupported: string[] | undefined;
}

/**
 * Returns the metadata of a resource; undefined unless it describes this server: its `resource` must be the URL of the
 * server, or a path above it at the same origin.
 */
export function readResourceMetadata(server: URL, json: unknown): ResourceMetadata | undefined {
  if (typeof json !== 'object' || json === null || !('resource' in json)) return undefined;
  const { resource } = json;
  if (typeof resource !== 'string' || !isResourceOf(server, resource)) return undefined;
  const { authorization_servers: servers, scopes_supported: scopes } = json as Record<string, unknown>;
  return { resource, authorizationServers: textsIn(servers) ?? [], scopesSupported: textsIn(scopes) };
}

function textsIn(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

function isResourceOf(server: URL, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, search, hash, username, password } = new URL(resource);
  if (origin !== server.origin || [search, hash, username, password].some((part) => part !== ''))
    return false;
  const above = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return pathname === server.pathname || `${server.pathname}/`.startsWith(above);
}

/** The addresses at which the metadata of a server is looked for, when its answer names none (RFC 9728, section 3.1). */
export function wellKnownMetadata({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '');
  const paths = path === '' ? [''] : [path, ''];
  return paths.map((suffix) => new URL(`/.well-known/oauth-protected-resource${suffix}`, origin));
}

/** The `resource_metadata` of the challenges in a header WWW-Authenticate; undefined without one. */
export function challengedMetadata(header: string): URL | undefined {
  const text = challengeMember(header, 'resource_metadata') ?? '';
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** A member of the challenges in a header WWW-Authenticate; undefined without it. */
export function challengeMember(
  header: string,
  name: 'resource_metadata' | 'scope' | 'error',
): string | undefined {
  const pattern = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"]*)"|([^\\s",]+))`, 'i');
  const [, quoted, token] = pattern.exec(header) ?? [];
  return quoted ?? token;
}
