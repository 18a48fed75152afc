import type { Event } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { parseResourceUri, type SessionResource } from './uri.ts';

/** A resource that a client subscribes to, with its URI as the client wrote it. */
export type SubscribedResource = SessionResource & { uri: string };

const MESSAGE_TYPES = ['session.updated', 'user.message', 'agent.message'];
const FILE_TYPES = ['files.uploaded', 'file.created', 'file.modified', 'file.deleted'];

/** The resources that the URIs name, by session, in the order of their first occurrence. Other URIs are left out. */
export function resourcesBySession(uris: readonly string[]): Map<string, SubscribedResource[]> {
  const found = new Map<string, SubscribedResource[]>();
  for (const uri of new Set(uris)) {
    const resource = parseResourceUri(uri);
    if (!resource) continue;
    const ofSession = found.get(resource.sessionId) ?? [];
    found.set(resource.sessionId, [...ofSession, { ...resource, uri }]);
  }
  return found;
}

/** The types of the events that change one of these resources. Empty for all types. */
export function changingTypes(resources: readonly SubscribedResource[]): string[] {
  const kinds = new Set(resources.map(({ kind }) => kind));
  if (kinds.has('events')) return [];
  return [...(kinds.has('transcript') ? MESSAGE_TYPES : []), ...(kinds.has('file') ? FILE_TYPES : [])];
}

/** The URIs of the resources that an event changes. */
export function changedUris(
  resources: readonly SubscribedResource[],
  { type, json }: Pick<Event, 'type' | 'json'>,
): string[] {
  let paths: ChangedPaths | undefined;
  const isChanged = (resource: SubscribedResource): boolean => {
    if (resource.kind === 'events') return true;
    if (resource.kind === 'transcript') return MESSAGE_TYPES.includes(type);
    if (!FILE_TYPES.includes(type)) return false;
    paths ??= changedPaths(json);
    return paths === 'any' || paths.some((path) => isAtOrBelow(resource.path, path));
  };
  return resources.filter(isChanged).map(({ uri }) => uri);
}

/** `any`: the event does not name all files. */
type ChangedPaths = string[] | 'any';

function changedPaths(json: string): ChangedPaths {
  const { data } = JSON.parse(json) as {
    data: { path?: string; files?: { path: string }[]; file_count?: number };
  };
  const { path, files = [], file_count: count = 0 } = data;
  if (path !== undefined) return [path];
  return files.length < count ? 'any' : files.map((file) => file.path);
}

/** A deleted directory has one event for all files below it. */
const isAtOrBelow = (path: string, changed: string) => path === changed || path.startsWith(`${changed}/`);
