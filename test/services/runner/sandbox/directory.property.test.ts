import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TreeIndex } from '../../../../services/runner/sandbox/workspace-tree.ts';
import {
  applyScan,
  bytes,
  makeWorkspace,
  PLAIN,
  sorted,
  type TreeSnapshot,
  takeSnapshot,
} from './workspace-fixture.ts';

const name = fc.constantFrom('a', 'b', 'c', 'ü', 'A');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const text = fc.constantFrom('', 'x', 'y', 'longer text');

/** A change by a command, or by the service. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), path, text }),
  fc.record({ kind: fc.constant('mkdir' as const), path }),
  fc.record({ kind: fc.constant('link' as const), path, target: path }),
  fc.record({ kind: fc.constant('hardLink' as const), path, from: path }),
  fc.record({ kind: fc.constant('move' as const), path, from: path }),
  fc.record({ kind: fc.constant('delete' as const), path }),
  fc.record({ kind: fc.constant('chmod' as const), path, mode: fc.constantFrom(0o755, 0o644) }),
  fc.record({ kind: fc.constant('putFile' as const), path, text }),
  fc.record({ kind: fc.constant('makeDirectory' as const), path }),
  fc.record({ kind: fc.constant('putSymlink' as const), path, target: path }),
  fc.record({ kind: fc.constant('remove' as const), path }),
  fc.record({ kind: fc.constant('clear' as const) }),
  fc.record({ kind: fc.constant('scan' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Workspace = ReturnType<typeof makeWorkspace>;

async function applyStep({ tree, at }: Workspace, one: Step): Promise<void> {
  switch (one.kind) {
    case 'write':
      return writeFileSync(at(one.path), one.text);
    case 'mkdir':
      return void mkdirSync(at(one.path), { recursive: true });
    case 'link':
      return symlinkSync(one.target, at(one.path));
    case 'hardLink':
      return linkSync(at(one.from), at(one.path));
    case 'move':
      return renameSync(at(one.from), at(one.path));
    case 'delete':
      return rmSync(at(one.path), { recursive: true, force: true });
    case 'chmod':
      return chmodSync(at(one.path), one.mode);
    case 'putFile':
      return tree.putFile(one.path, bytes(one.text), PLAIN);
    case 'makeDirectory':
      return tree.makeDirectory(one.path);
    case 'putSymlink':
      return tree.putSymlink(one.path, one.target);
    case 'remove':
      return tree.remove(one.path);
    case 'clear':
      return tree.clear();
    case 'scan':
      return;
  }
}

describe('DirectoryTree', () => {
  it('reports every change in its scans, for random sequences of changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        using workspace = makeWorkspace();
        const seen: TreeIndex = new Map();
        const snapshot: TreeSnapshot = new Map();
        for (const one of [...steps, { kind: 'scan' as const }]) {
          // Steps that are impossible in the current state fail with a system error.
          await applyStep(workspace, one).catch((error: NodeJS.ErrnoException) => {
            if (error.code === undefined) throw error;
          });
          if (one.kind !== 'scan') continue;
          await applyScan(snapshot, await workspace.tree.scan(seen), workspace.tree);
          expect(sorted(snapshot)).toEqual(sorted(takeSnapshot(workspace.root)));
        }
      }),
      { numRuns: 300 },
    );
  });
});
