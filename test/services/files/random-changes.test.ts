import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../lib/errors.ts';
import type { Change } from '../../../proto/gen/ahs/files/v1/files.ts';
import { seeded } from '../../chaos/random.ts';
import {
  change,
  changesOf,
  type FilesSystem,
  link,
  mkdir,
  move,
  OWNER,
  ofSession,
  openFilesSystem,
  openReplica,
  put,
  readText,
  remove,
  treeOf,
  upload,
  WorkspaceCopy,
  workspace,
} from './system.ts';

const caller = OWNER;
const ACTIONS = 150;

/** Entries by path, in the format of treeOf. */
type Tree = Record<string, string>;

/** The model of a workspace: one tree for each version. */
interface Model {
  sessionId: string;
  versions: Map<number, Tree>;
  version: number;
  copy: WorkspaceCopy;
}

const below = (tree: Tree, path: string) => Object.keys(tree).filter((one) => one.startsWith(`${path}/`));
const parentsOf = (path: string) =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/** Applies one change to a tree; undefined when it is refused. */
function applied(tree: Tree, { kind }: Change, textOf: (contentId: string) => string): Tree | undefined {
  const after = { ...tree };
  const addParents = (path: string) => {
    for (const one of parentsOf(path)) {
      if (after[one] !== undefined && after[one] !== '/') return false;
      after[one] = '/';
    }
    return true;
  };
  switch (kind?.$case) {
    case 'putFile':
    case 'putSymlink': {
      const { path } = kind.value;
      if (!addParents(path) || after[path] === '/') return undefined;
      after[path] = kind.$case === 'putFile' ? textOf(kind.value.contentId) : `→ ${kind.value.target}`;
      return after;
    }
    case 'makeDirectory': {
      const { path } = kind.value;
      if (!addParents(path) || (after[path] ?? '/') !== '/') return undefined;
      after[path] = '/';
      return after;
    }
    case 'remove': {
      const { path, ifExists } = kind.value;
      if (after[path] === undefined) return ifExists ? after : undefined;
      for (const one of [path, ...below(after, path)]) delete after[one];
      return after;
    }
    case 'move': {
      const { from, to, overwrite } = kind.value;
      if (after[from] === undefined) return undefined;
      if (to.startsWith(`${from}/`) || from.startsWith(`${to}/`)) return undefined;
      if (!addParents(to)) return undefined;
      if (from === to) return after;
      if (after[to] !== undefined && !overwrite) return undefined;
      for (const one of [to, ...below(after, to)]) delete after[one];
      for (const one of [from, ...below(tree, from)]) {
        after[`${to}${one.slice(from.length)}`] = tree[one]!;
        delete after[one];
      }
      return after;
    }
    default:
      return undefined;
  }
}

const same = (one: Tree, other: Tree) =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

describe('workspaces under random changes', () => {
  let system: FilesSystem | undefined;
  afterEach(() => system?.[Symbol.asyncDispose]());

  it.each([1, 2, 3])('match a model in memory, seed %i', async (seed) => {
    const random = seeded(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const here = await openFilesSystem();
    system = here;
    await using other = await openReplica('in process', here.context, here.fakes, here.blobs);
    const files = () => pick([here.edge, other.edge]);
    const first = here.fakes.session();
    const texts = Array.from({ length: 12 }, (_, index) => `text ${index}`);
    const contents = await upload(here.edge, ofSession(first), texts);
    const textOf = (id: string) => texts[contents.findIndex(({ contentId }) => contentId === id)]!;
    const begin = (sessionId: string, version: number, tree: Tree): Model => ({
      ...{ sessionId, version, versions: new Map([[version, tree]]), copy: new WorkspaceCopy() },
    });
    const models = [begin(first, 0, {})];
    const names = ['a', 'b', 'c', 'a-b', 'a0', 'é'];
    const path = () => Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(names)).join('/');

    function randomChange(): Change {
      const dice = random();
      if (dice < 0.45) return put(path(), pick(contents).contentId, { executable: random() < 0.2 });
      if (dice < 0.55) return mkdir(path());
      if (dice < 0.62) return link(path(), pick(names));
      if (dice < 0.82) return move(path(), path(), random() < 0.6);
      return remove(path(), random() < 0.5);
    }

    async function changeWorkspace(model: Model): Promise<void> {
      const changes = Array.from({ length: 1 + Math.floor(random() * 4) }, randomChange);
      const before = model.versions.get(model.version)!;
      const expected = changes.reduce<Tree | undefined>(
        (tree, one) => tree && applied(tree, one, textOf),
        before,
      );
      const outcome = await change(files(), ofSession(model.sessionId), changes).catch(
        (error: unknown) => error,
      );
      if (expected === undefined) {
        expect(outcome).toBeInstanceOf(Refusal);
        expect(['FILE_NOT_FOUND', 'NAME_TAKEN', 'INVALID_REQUEST']).toContain((outcome as Refusal).code);
        return;
      }
      const version = (outcome as Awaited<ReturnType<typeof change>>).workspace?.version;
      // A version may also change only a time or an executable bit.
      expect(same(before, expected) ? [model.version, model.version + 1] : [model.version + 1]).toContain(
        version,
      );
      model.version = version ?? -1;
      model.versions.set(model.version, expected);
    }

    async function fork(model: Model): Promise<void> {
      const toSessionId = here.fakes.session();
      const version = random() < 0.5 ? undefined : pick([...model.versions.keys()]);
      const request = { fromSessionId: model.sessionId, version, toSessionId };
      const fork = await here.sessions.forkWorkspace(request, { caller });
      expect(fork.version).toBe(version ?? model.version);
      models.push(begin(toSessionId, fork.version, model.versions.get(fork.version)!));
    }

    async function check(model: Model): Promise<void> {
      const place = ofSession(model.sessionId);
      const tree = model.versions.get(model.version)!;
      expect(await treeOf(files(), place)).toEqual(tree);
      const found = await workspace(files(), place);
      const contents = Object.values(tree).filter((text) => text !== '/');
      const bytes = contents.reduce((sum, text) => sum + (text.startsWith('→') ? 0 : text.length), 0);
      expect(found).toMatchObject({ version: model.version, files: contents.length, bytes });
      const lease = here.fakes.lease(model.sessionId);
      await model.copy.checkout(here.runner, lease);
      expect(model.copy.tree).toEqual(tree);
      const [version, old] = pick([...model.versions]);
      for (const [at, text] of Object.entries(old)) {
        if (text === '/' || text.startsWith('→')) continue;
        expect(await readText(files(), place, at, { version })).toBe(text);
        break;
      }
    }

    for (let action = 0; action < ACTIONS; action++) {
      const model = pick(models);
      const dice = random();
      if (dice < 0.75) await changeWorkspace(model);
      else if (dice < 0.85 && models.length < 25) await fork(pick([model, models.at(-1)!]));
      else await check(model);
    }
    for (const model of models) {
      await check(model);
      const seqs = (await changesOf(files(), ofSession(model.sessionId))).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    }
  });
});
