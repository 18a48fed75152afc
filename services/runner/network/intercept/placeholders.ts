import { type HostAddress, matchesAnyHost } from '../../../../lib/host-patterns.ts';
import { http } from '../../../../lib/http.ts';
import type { BoundVariable, EgressCredentials } from './egress-credentials.ts';
import { ProxyRefusal } from './proxy-refusal.ts';
import { isBelowPrefix } from './request-path.ts';

/** A request as the proxy forwards it. */
export interface OutgoingRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: [name: string, value: string][];
}

/** A variable of a session that uses or has used the sandbox. */
export interface KnownVariable {
  variable: BoundVariable;
  credentials: EgressCredentials;
  /** Whether a turn of the session runs. */
  isActive: boolean;
}

export interface PlaceholderUse {
  variable: BoundVariable;
  credentials: EgressCredentials;
  place: { kind: 'header' | 'basic' | 'query'; index: number };
}

/**
 * Finds the placeholders in a request. Throws a ProxyRefusal (403) when one occurs twice, or where its variable does not
 * permit it.
 */
export function findPlaceholders(
  request: OutgoingRequest,
  known: readonly KnownVariable[],
  address: HostAddress,
): PlaceholderUse[] {
  const uses = known.flatMap(({ variable, credentials, isActive }) => {
    const places = [...placesInHeaders(request, variable), ...placesInTarget(request, variable)];
    const [place] = places;
    if (!place) return [];
    const { name, rules, hosts } = variable;
    if (places.length > 1) throw new ProxyRefusal(403, `The placeholder of ${name} occurs more than once.`);
    if (!isActive)
      throw new ProxyRefusal(403, `The placeholder of ${name} works only while a turn of its session runs.`);
    if (!matchesAnyHost(hosts, address))
      throw new ProxyRefusal(403, `The placeholder of ${name} must not be sent to this host.`);
    if (place.kind === 'elsewhere') throw misplaced(variable);
    const [path = ''] = request.target.split('?', 1);
    if (rules.methods.length > 0 && !rules.methods.includes(request.method))
      throw new ProxyRefusal(403, `${name} must not be used with the method ${request.method}.`);
    if (rules.pathPrefixes.length > 0 && !isBelowPrefix(path, rules.pathPrefixes))
      throw new ProxyRefusal(403, `${name} must not be used with this path.`);
    return [{ variable, credentials, place: { kind: place.kind, index: place.index } }];
  });
  return uses;
}

/** Throws a ProxyRefusal (403) when the beginning of a body contains a placeholder. */
export function refusePlaceholdersInBody(body: Buffer, known: readonly KnownVariable[]): void {
  for (const { variable } of known) if (body.includes(variable.placeholder)) throw misplaced(variable);
}

/** Replaces a placeholder. The secret itself is never searched for placeholders. */
export function replacePlaceholder(
  request: OutgoingRequest,
  { variable, place }: Pick<PlaceholderUse, 'variable' | 'place'>,
  secret: string,
): OutgoingRequest {
  const replace = (text: string) => text.split(variable.placeholder).join(secret);
  if (place.kind === 'query') {
    const [path = '', members] = splitTarget(request.target);
    const query = members.map((member, index) => {
      if (index !== place.index) return member;
      const [name, value] = splitMember(member);
      return `${name}=${encodeURIComponent(replace(decodeMember(value)))}`;
    });
    return { ...request, target: `${path}?${query.join('&')}` };
  }
  const headers = request.headers.map(([name, value], index): [string, string] => {
    if (index !== place.index) return [name, value];
    const replaced = place.kind === 'basic' ? encodeBasic(replace(decodeBasic(value) ?? '')) : replace(value);
    return [name, checkedHeaderValue(name, replaced)];
  });
  return { ...request, headers };
}

/** Node's error for an invalid header has the name only, but a secret must not depend on that. */
export function checkedHeaderValue(name: string, value: string): string {
  try {
    http.validateHeaderValue(name, value);
    return value;
  } catch {
    throw new ProxyRefusal(502, 'The credential has characters that a header cannot contain.');
  }
}

type Place = { kind: 'header' | 'basic' | 'query' | 'elsewhere'; index: number };

function placesInHeaders({ headers }: OutgoingRequest, { placeholder, rules }: BoundVariable): Place[] {
  return headers.flatMap(([header, value], index): Place[] => {
    const name = header.toLowerCase();
    const basic = name === 'authorization' ? decodeBasic(value) : undefined;
    return [
      ...occurrences(basic ?? '', placeholder, { kind: rules.basic ? 'basic' : 'elsewhere', index }),
      ...occurrences(value, placeholder, {
        kind: rules.headers.includes(name) && basic === undefined ? 'header' : 'elsewhere',
        index,
      }),
      ...occurrences(name, placeholder.toLowerCase(), { kind: 'elsewhere', index }),
    ];
  });
}

function placesInTarget({ target }: OutgoingRequest, { placeholder, rules }: BoundVariable): Place[] {
  const [path, members] = splitTarget(target);
  const inMembers = members.flatMap((member, index): Place[] => {
    const [name, value] = splitMember(member).map(decodeMember);
    const kind = rules.query.includes(name ?? '') ? 'query' : 'elsewhere';
    return [
      ...occurrences(name ?? '', placeholder, { kind: 'elsewhere', index }),
      ...occurrences(value ?? '', placeholder, { kind, index }),
    ];
  });
  return [...occurrences(decodeMember(path), placeholder, { kind: 'elsewhere', index: 0 }), ...inMembers];
}

const occurrences = (text: string, placeholder: string, place: Place): Place[] =>
  Array.from({ length: text.split(placeholder).length - 1 }, () => place);

function splitTarget(target: string): [path: string, members: string[]] {
  const at = target.indexOf('?');
  return at < 0 ? [target, []] : [target.slice(0, at), target.slice(at + 1).split('&')];
}

function splitMember(member: string): [name: string, value: string] {
  const at = member.indexOf('=');
  return at < 0 ? [member, ''] : [member.slice(0, at), member.slice(at + 1)];
}

function decodeMember(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Returns the user name and password of Basic authentication, or undefined for another scheme. */
function decodeBasic(value: string): string | undefined {
  const [, encoded] = /^basic +(\S*) *$/i.exec(value) ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
}

const encodeBasic = (credentials: string): string => `Basic ${Buffer.from(credentials).toString('base64')}`;

function misplaced({ name, rules: { headers, basic, query } }: BoundVariable): ProxyRefusal {
  const places = [
    ...headers.map((header) => `the header ${header}`),
    ...(basic ? ['Basic authentication'] : []),
    ...query.map((member) => `the query member ${member}`),
  ];
  return new ProxyRefusal(403, `The placeholder of ${name} is allowed only in ${places.join(', ')}.`);
}
