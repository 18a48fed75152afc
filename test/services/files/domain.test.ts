import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ancestorsOf, pathProblem } from '../../../lib/paths.ts';
import {
  type Conflict,
  NO_EARLIER_PARTS,
  type PlanResult,
  planChanges,
  type RequestedChange,
} from '../../../services/files/domain/change-planner.ts';
import { changeSetOf } from '../../../services/files/domain/change-set.ts';
import { directory, type Node, symlink } from '../../../services/files/domain/node.ts';
import { compareByBytes, conflictName, parentOf } from '../../../services/files/domain/paths.ts';
import {
  effectiveNode,
  type LoadedPath,
  outermostOf,
  WorkspaceView,
} from '../../../services/files/domain/workspace-view.ts';

const NOW = new Date('2026-01-01T00:00:00.000Z');
const THEN = new Date('2025-01-01T00:00:00.000Z');

const name = fc.constantFrom('a', 'b', 'c', 'a-b', 'é', 'x.txt');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const anyName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 });
const anyPath = fc
  .array(anyName, { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join('/'))
  .filter((text) => pathProblem(text) === undefined);

function file(text: string): Node {
  return {
    kind: 'file',
    contentId: `cnt_${text}`,
    size: text.length,
    sha256: text,
    executable: false,
    target: '',
    modifiedAt: THEN,
  };
}

const requestedChange: fc.Arbitrary<RequestedChange> = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    path,
    node: fc.oneof(fc.constantFrom('1', '22', '333').map(file), fc.constant(symlink('a', THEN))),
    keepsTime: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('directory' as const), path }),
  fc.record({ kind: fc.constant('move' as const), from: path, to: path, overwrite: fc.boolean() }),
  fc.record({ kind: fc.constant('remove' as const), path, ifExists: fc.boolean() }),
);

type Tree = Map<string, Node>;

/** A valid tree: every entry is in a directory. */
const tree: fc.Arbitrary<Tree> = fc
  .array(fc.tuple(path, fc.constantFrom('1', '22')), { maxLength: 8 })
  .map((files) => {
    const made: Tree = new Map();
    for (const [at, text] of files) {
      const parents = ancestorsOf(at);
      if (made.has(at) || parents.some((one) => made.get(one)?.kind === 'file')) continue;
      for (const one of parents) made.set(one, directory(THEN));
      made.set(at, file(text));
    }
    return made;
  });

/** The stored state of a tree: some rows belong to the workspace itself, some to its parents. */
function storedPaths(
  stored: Tree,
  isOwn: (at: string) => boolean,
  changedAt: (at: string) => number,
): Map<string, LoadedPath> {
  return new Map(
    Array.from(stored, ([at, node]): [string, LoadedPath] => [
      at,
      isOwn(at)
        ? { own: { node, fromVersion: changedAt(at) }, closedVersion: 0 }
        : { inherited: node, closedVersion: 0 },
    ]),
  );
}

function optionsOf(changes: RequestedChange[], base?: number, earlier = NO_EARLIER_PARTS) {
  const requestedPaths = () => changes.map((one) => (one.kind === 'move' ? one.to : one.path));
  return { base, now: NOW, requestedPaths, earlier };
}

/** Plans with a view that has loaded everything. */
function planAll(
  stored: Map<string, LoadedPath>,
  changes: RequestedChange[],
  base?: number,
  options = optionsOf(changes, base),
): { view: WorkspaceView; planned: PlanResult } | undefined {
  const view = new WorkspaceView(stored, new Set(['']));
  try {
    const planned = planChanges(view, changes, options);
    // The versions of removed entries are loaded separately.
    if (planned) return { view, planned };
    const all = new Map(stored);
    for (const at of view.missing.paths) all.set(at, { closedVersion: 0 });
    return planAll(all, changes, base, options);
  } catch {
    return undefined;
  }
}

/** Plans with a view that starts empty and loads the missing paths. */
function planByLoading(stored: Map<string, LoadedPath>, changes: RequestedChange[], base?: number) {
  const found = new Map<string, LoadedPath>();
  const trees = new Set<string>();
  for (let round = 0; round < 100; round++) {
    const view = new WorkspaceView(found, trees);
    try {
      const planned = planChanges(view, changes, optionsOf(changes, base));
      if (planned) return { view, planned };
    } catch {
      return undefined;
    }
    for (const at of view.missing.paths) found.set(at, stored.get(at) ?? { closedVersion: 0 });
    for (const top of outermostOf(view.missing.trees)) {
      for (const [at, one] of stored) if (at.startsWith(`${top}/`)) found.set(at, one);
      trees.add(top);
    }
  }
  throw new Error('the plan still misses paths after 100 rounds');
}

/** The tree that the rows show after the change set is written. */
function treeAfter(stored: Map<string, LoadedPath>, changeSet: ReturnType<typeof changeSetOf>): Tree {
  const own = new Map(
    Array.from(stored).flatMap(([at, one]) => (one.own ? [[at, one.own.node] as const] : [])),
  );
  for (const at of changeSet.closedPaths) {
    expect(own.has(at)).toBe(true);
    own.delete(at);
  }
  for (const { path: at, node } of changeSet.rows) {
    expect(own.has(at)).toBe(false);
    own.set(at, node);
  }
  const shown: Tree = new Map();
  for (const at of new Set([...own.keys(), ...stored.keys()])) {
    const node = own.has(at) ? own.get(at) : stored.get(at)?.inherited;
    if (node) shown.set(at, node);
  }
  return shown;
}

/** Plans each part on the rows that the earlier parts have left, as the store does. */
function planInParts(stored: Map<string, LoadedPath>, parts: RequestedChange[][], base?: number) {
  const all = parts.flat();
  const conflicts: Conflict[] = [];
  let rows = stored;
  let earlier = NO_EARLIER_PARTS;
  for (const part of parts) {
    const result = planAll(rows, part, base, { ...optionsOf(all, base), earlier });
    if (!result) return undefined;
    conflicts.push(...result.planned.conflicts);
    earlier = result.planned.earlier;
    rows = rowsAfter(rows, changeSetOf(result.view));
  }
  return { rows, conflicts };
}

/** The rows after a change set is written. Its own rows are no changes by others. */
function rowsAfter(stored: Map<string, LoadedPath>, changeSet: ReturnType<typeof changeSetOf>) {
  const rows = new Map(stored);
  for (const at of changeSet.closedPaths) rows.set(at, { ...rows.get(at), own: undefined, closedVersion: 0 });
  for (const { path: at, node } of changeSet.rows)
    rows.set(at, { closedVersion: 0, ...rows.get(at), own: { node, fromVersion: 0 } });
  return rows;
}

const scenario = fc.record({
  stored: tree,
  own: fc.func(fc.boolean()),
  version: fc.func(fc.integer({ min: 1, max: 4 })),
  changes: fc.array(requestedChange, { minLength: 1, maxLength: 6 }),
  base: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
});

describe('planChanges', () => {
  it('returns the same plan with all paths loaded and with only the missing paths loaded', () => {
    fc.assert(
      fc.property(scenario, ({ stored, own, version, changes, base }) => {
        const rows = storedPaths(stored, own, version);
        const [all, loaded] = [planAll(rows, changes, base), planByLoading(rows, changes, base)];
        expect(loaded?.planned).toEqual(all?.planned);
        if (all && loaded) expect(changeSetOf(loaded.view)).toEqual(changeSetOf(all.view));
      }),
      { numRuns: 2_000 },
    );
  });

  it('leads to the same tree and conflicts when the changes are planned in parts', () => {
    const cut = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 3 });
    fc.assert(
      fc.property(scenario, cut, ({ stored, own, version, changes, base }, cuts) => {
        const rows = storedPaths(stored, own, version);
        const whole = planAll(rows, changes, base);
        const bounds = [0, ...cuts.toSorted((a, b) => a - b), changes.length];
        const parts = bounds.slice(1).map((end, index) => changes.slice(bounds[index], end));
        const inParts = planInParts(rows, parts, base);
        expect(inParts === undefined).toBe(whole === undefined);
        if (!whole || !inParts) return;
        expect(inParts.conflicts).toEqual(whole.planned.conflicts);
        const expected = treeAfter(rows, changeSetOf(whole.view));
        const shown = Array.from(inParts.rows, ([at, one]) => [at, effectiveNode(one)] as const);
        const actual = new Map(shown.filter(([, node]) => node !== undefined));
        expect(actual).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps every entry in a directory and lists exactly the differences', () => {
    fc.assert(
      fc.property(scenario, ({ stored, own, version, changes, base }) => {
        const rows = storedPaths(stored, own, version);
        const result = planAll(rows, changes, base);
        if (!result) return;
        const changeSet = changeSetOf(result.view);
        const after = treeAfter(rows, changeSet);
        for (const at of after.keys()) {
          expect(pathProblem(at)).toBeUndefined();
          for (const one of ancestorsOf(at)) expect(after.get(one)?.kind).toBe('directory');
        }
        const copy: Tree = new Map(stored);
        for (const { kind, path: at, node } of changeSet.changes) {
          if (kind === 'deleted')
            for (const one of [...copy.keys()]) if (one === at || one.startsWith(`${at}/`)) copy.delete(one);
          if (kind === 'created') expect(copy.has(at)).toBe(false);
          if (kind === 'modified') expect(copy.has(at)).toBe(true);
          if (node) copy.set(at, node);
        }
        const sorted = (one: Tree) => [...one].sort(([a], [b]) => compareByBytes(a, b));
        expect(sorted(copy)).toEqual(sorted(after));
        const count = (one: Tree, isDirectory: boolean) =>
          [...one.values()].filter(({ kind }) => (kind === 'directory') === isDirectory).length;
        const bytes = (one: Tree) => [...one.values()].reduce((sum, { size }) => sum + size, 0);
        expect(changeSet.delta).toEqual({
          files: count(after, false) - count(stored, false),
          directories: count(after, true) - count(stored, true),
          bytes: bytes(after) - bytes(stored),
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('never changes an entry that another caller has changed since the base version', () => {
    fc.assert(
      fc.property(scenario, ({ stored, own, version, changes, base = 2 }) => {
        const rows = storedPaths(stored, own, version);
        const result = planAll(rows, changes, base);
        if (!result) return;
        const after = treeAfter(rows, changeSetOf(result.view));
        for (const [at, node] of stored) {
          if (!own(at) || version(at) <= base) continue;
          const there = after.get(at);
          expect([there?.kind, there?.sha256, there?.target]).toEqual([node.kind, node.sha256, node.target]);
        }
        for (const { keptAs } of result.planned.conflicts) if (keptAs) expect(stored.has(keptAs)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('planChanges with a base version', () => {
  it('does not move or remove a file of another caller whose content an earlier change repeats', () => {
    const stored = new Map([['a', { own: { node: file('1'), fromVersion: 2 }, closedVersion: 0 }]]);
    const repeat: RequestedChange = { kind: 'put', path: 'a', node: file('1'), keepsTime: true };
    for (const change of [
      { kind: 'move', from: 'a', to: 'b', overwrite: false },
      { kind: 'remove', path: 'a', ifExists: false },
    ] as const) {
      const result = planAll(stored, [repeat, change], 1);
      expect(result?.planned.conflicts).toEqual([{ path: 'a', keptAs: '' }]);
      expect(result?.view.get('a')).toMatchObject({ kind: 'file', sha256: '1' });
    }
  });
});

describe('conflictName', () => {
  it('returns a different valid path in the same directory for each attempt', () => {
    fc.assert(
      fc.property(anyPath, fc.integer({ min: 0, max: 2 ** 40 }), (given, base) => {
        const names = [1, 2, 3, 10, 999].map((attempt) => conflictName(given, base, attempt));
        expect(new Set([given, ...names]).size).toBe(6);
        for (const one of names) {
          expect(pathProblem(one)).toBeUndefined();
          expect(parentOf(one)).toBe(parentOf(given));
          expect(one).toContain(`.conflict-v${base}`);
        }
      }),
    );
  });
});

describe('paths', () => {
  it('sort by UTF-8 bytes like the database', () => {
    fc.assert(
      fc.property(fc.array(anyPath), (paths) => {
        const sorted = [...paths].sort(compareByBytes);
        for (const [index, one] of sorted.entries()) {
          const next = sorted[index + 1];
          if (next !== undefined)
            expect(Buffer.compare(Buffer.from(one), Buffer.from(next))).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it('lie below all their ancestors', () => {
    fc.assert(
      fc.property(anyPath, (given) => {
        const parents = ancestorsOf(given);
        expect(parents.at(-1) ?? '').toBe(parentOf(given));
        for (const one of parents) expect(given.startsWith(`${one}/`)).toBe(true);
        expect(outermostOf([given, ...parents])).toEqual([parents[0] ?? given]);
      }),
    );
  });
});
