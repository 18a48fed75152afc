import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathProblem } from '../../../lib/paths.ts';
import { directory, type Node, symlink } from '../../../services/files/domain/node.ts';
import { outcomeOf } from '../../../services/files/domain/outcome.ts';
import { above, byBytes, conflictName, directoryOf } from '../../../services/files/domain/paths.ts';
import { plan, type Wish } from '../../../services/files/domain/plan.ts';
import { type Known, outermost, View } from '../../../services/files/domain/view.ts';

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

const wish: fc.Arbitrary<Wish> = fc.oneof(
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

/** A tree that could be stored: whatever is in something is in a directory. */
const tree: fc.Arbitrary<Tree> = fc
  .array(fc.tuple(path, fc.constantFrom('1', '22')), { maxLength: 8 })
  .map((files) => {
    const made: Tree = new Map();
    for (const [at, text] of files) {
      const parents = above(at);
      if (made.has(at) || parents.some((one) => made.get(one)?.kind === 'file')) continue;
      for (const one of parents) made.set(one, directory(THEN));
      made.set(at, file(text));
    }
    return made;
  });

/** How the tree is stored: some of it by the workspace itself, some by what it is a fork of. */
function known(
  stored: Tree,
  isOwn: (at: string) => boolean,
  changedAt: (at: string) => number,
): Map<string, Known> {
  return new Map(
    Array.from(stored, ([at, node]): [string, Known] => [
      at,
      isOwn(at)
        ? { own: { node, fromVersion: changedAt(at) }, closedVersion: 0 }
        : { inherited: node, closedVersion: 0 },
    ]),
  );
}

/** Plans with a view that knows everything. */
function planAll(stored: Map<string, Known>, wishes: Wish[], base?: number) {
  const view = new View(stored, new Set(['']));
  try {
    const planned = plan(view, wishes, base, NOW);
    // Whoever asks who has removed something has to look that up.
    if (planned) return { view, planned };
    const all = new Map(stored);
    for (const at of view.needs.paths) all.set(at, { closedVersion: 0 });
    return planAll(all, wishes, base);
  } catch {
    return undefined;
  }
}

/** The same with a view that knows nothing at first, and is told what it asks for. */
function planByAsking(stored: Map<string, Known>, wishes: Wish[], base?: number) {
  const found = new Map<string, Known>();
  const trees = new Set<string>();
  for (let round = 0; round < 100; round++) {
    const view = new View(found, trees);
    try {
      const planned = plan(view, wishes, base, NOW);
      if (planned) return { view, planned };
    } catch {
      return undefined;
    }
    for (const at of view.needs.paths) found.set(at, stored.get(at) ?? { closedVersion: 0 });
    for (const top of outermost(view.needs.trees)) {
      for (const [at, one] of stored) if (at.startsWith(`${top}/`)) found.set(at, one);
      trees.add(top);
    }
  }
  throw new Error('the plan never knows enough');
}

/** What the rows say after the outcome was written. */
function written(stored: Map<string, Known>, outcome: ReturnType<typeof outcomeOf>): Tree {
  const own = new Map(
    Array.from(stored).flatMap(([at, one]) => (one.own ? [[at, one.own.node] as const] : [])),
  );
  for (const at of outcome.closed) {
    expect(own.has(at)).toBe(true);
    own.delete(at);
  }
  for (const { path: at, node } of outcome.rows) {
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

const scenario = fc.record({
  stored: tree,
  own: fc.func(fc.boolean()),
  version: fc.func(fc.integer({ min: 1, max: 4 })),
  wishes: fc.array(wish, { minLength: 1, maxLength: 6 }),
  base: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
});

describe('a plan', () => {
  it('is the same whether everything is known before or only what it asks for', () => {
    fc.assert(
      fc.property(scenario, ({ stored, own, version, wishes, base }) => {
        const rows = known(stored, own, version);
        const [all, asked] = [planAll(rows, wishes, base), planByAsking(rows, wishes, base)];
        expect(asked?.planned).toEqual(all?.planned);
        if (all && asked) expect(outcomeOf(asked.view)).toEqual(outcomeOf(all.view));
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves a tree in which everything is in a directory, and tells of exactly what is otherwise', () => {
    fc.assert(
      fc.property(scenario, ({ stored, own, version, wishes, base }) => {
        const rows = known(stored, own, version);
        const made = planAll(rows, wishes, base);
        if (!made) return;
        const outcome = outcomeOf(made.view);
        const after = written(rows, outcome);
        for (const at of after.keys()) {
          expect(pathProblem(at)).toBeUndefined();
          for (const one of above(at)) expect(after.get(one)?.kind).toBe('directory');
        }
        const copy: Tree = new Map(stored);
        for (const { kind, path: at, node } of outcome.told) {
          if (kind === 'deleted')
            for (const one of [...copy.keys()]) if (one === at || one.startsWith(`${at}/`)) copy.delete(one);
          if (kind === 'created') expect(copy.has(at)).toBe(false);
          if (kind === 'modified') expect(copy.has(at)).toBe(true);
          if (node) copy.set(at, node);
        }
        const sorted = (one: Tree) => [...one].sort(([a], [b]) => byBytes(a, b));
        expect(sorted(copy)).toEqual(sorted(after));
        const count = (one: Tree, isDirectory: boolean) =>
          [...one.values()].filter(({ kind }) => (kind === 'directory') === isDirectory).length;
        const bytes = (one: Tree) => [...one.values()].reduce((sum, { size }) => sum + size, 0);
        expect(outcome.more).toEqual({
          files: count(after, false) - count(stored, false),
          directories: count(after, true) - count(stored, true),
          bytes: bytes(after) - bytes(stored),
        });
      }),
      { numRuns: 2_000 },
    );
  });

  it('never changes what somebody else has changed since its base', () => {
    fc.assert(
      fc.property(scenario, ({ stored, own, version, wishes, base = 2 }) => {
        const rows = known(stored, own, version);
        const made = planAll(rows, wishes, base);
        if (!made) return;
        const after = written(rows, outcomeOf(made.view));
        for (const [at, node] of stored) {
          if (!own(at) || version(at) <= base) continue;
          const there = after.get(at);
          expect([there?.kind, there?.sha256, there?.target]).toEqual([node.kind, node.sha256, node.target]);
        }
        for (const { keptAs } of made.planned.conflicts) if (keptAs) expect(stored.has(keptAs)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the name of what could not keep its own', () => {
  it('is a path beside it, and another one each time', () => {
    fc.assert(
      fc.property(anyPath, fc.integer({ min: 0, max: 2 ** 40 }), (given, base) => {
        const names = [1, 2, 3, 10, 999].map((attempt) => conflictName(given, base, attempt));
        expect(new Set([given, ...names]).size).toBe(6);
        for (const one of names) {
          expect(pathProblem(one)).toBeUndefined();
          expect(directoryOf(one)).toBe(directoryOf(given));
          expect(one).toContain(`.conflict-v${base}`);
        }
      }),
    );
  });
});

describe('paths', () => {
  it('sort as the database sorts them', () => {
    fc.assert(
      fc.property(fc.array(anyPath), (paths) => {
        const sorted = [...paths].sort(byBytes);
        for (const [index, one] of sorted.entries()) {
          const next = sorted[index + 1];
          if (next !== undefined)
            expect(Buffer.compare(Buffer.from(one), Buffer.from(next))).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it('lie below all that is above them', () => {
    fc.assert(
      fc.property(anyPath, (given) => {
        const parents = above(given);
        expect(parents.at(-1) ?? '').toBe(directoryOf(given));
        for (const one of parents) expect(given.startsWith(`${one}/`)).toBe(true);
        expect(outermost([given, ...parents])).toEqual([parents[0] ?? given]);
      }),
    );
  });
});
