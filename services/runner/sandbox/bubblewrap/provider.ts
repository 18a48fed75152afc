import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { refuse } from '../../../../lib/errors.ts';
import type { Log } from '../../../../lib/log.ts';
import { keptBy } from '../cgroups/branches.ts';
import { type Branch, ControlGroup, groupsIn } from '../cgroups/group.ts';
import type { Ownership } from '../directory/writing.ts';
import type { Outside } from '../network/gate.ts';
import { PROXY_VARIABLES } from '../network/listen.ts';
import { openLimitedNetwork } from '../network/open.ts';
import type { Ground, Place } from '../place.ts';
import type { Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts';
import { keep } from './limits.ts';
import type { Programs } from './programs.ts';
import { Room } from './room.ts';
import { BubblewrapSandbox, type OpenRoom } from './sandbox.ts';
import type { System } from './system.ts';
import type { Uids } from './uids.ts';

export interface BubblewrapParts {
  ground: Ground;
  clock: Clock;
  programs: Programs;
  system: System;
  /** The file with the filter of system calls. */
  filter: string;
  /** Where control groups can be made; empty when nowhere. */
  branches: readonly Branch[];
  outside: Outside;
  log: Log;
  /** When this process is root; undefined when its sandboxes are of its own user. */
  uids: Uids | undefined;
}

const MIB = 1024 * 1024;

/** The programs of this machine, walled in by bubblewrap. */
export class BubblewrapProvider implements SandboxProvider {
  readonly name = 'bubblewrap';
  readonly #parts: BubblewrapParts;

  constructor(parts: BubblewrapParts) {
    this.#parts = parts;
  }

  async create(spec: SandboxSpec): Promise<Sandbox> {
    const { ground, uids } = this.#parts;
    const owner = uids?.take();
    const place = ground.make(spec.sandboxId, owner);
    try {
      return await this.#open(spec, place, owner);
    } catch (error) {
      await this.#endLeftovers(spec.sandboxId);
      await ground.remove(spec.sandboxId);
      if (owner) uids?.giveBack(owner);
      throw refuse('SANDBOX_UNAVAILABLE', 'A sandbox cannot be made on this runner.', { cause: error });
    }
  }

  async attach(spec: SandboxSpec): Promise<Sandbox | undefined> {
    const { ground, uids } = this.#parts;
    const there = ground.find(spec.sandboxId);
    if (!there) return undefined;
    const owner = uids?.takeAgain(statSync(there.home).uid);
    // It is of another user than this process can make commands of.
    if (uids && !owner) return undefined;
    await this.#endLeftovers(spec.sandboxId);
    const place = ground.find(spec.sandboxId, owner);
    return place && (await this.#open(spec, place, owner));
  }

  async sweep(keptSandboxIds: readonly string[]): Promise<void> {
    const { ground, branches } = this.#parts;
    const left = new Set([...ground.list(), ...branches.flatMap(groupsIn)]);
    for (const sandboxId of left)
      if (!keptSandboxIds.includes(sandboxId)) await this.#endLeftovers(sandboxId);
    await ground.sweep(keptSandboxIds);
  }

  async #open(spec: SandboxSpec, place: Place, owner: Ownership | undefined): Promise<Sandbox> {
    const { branches, clock, programs, system, uids } = this.#parts;
    const { sandboxId } = spec;
    const { wanted, inForce, rlimits } = keep(spec.limits, keptBy(branches));
    // Whoever is let into the room may go through it; nobody else comes as far.
    chmodSync(place.workspaces, 0o711);
    if (owner) chownSync(place.home, owner.uid, owner.gid);
    const hasNetwork = spec.network.mode !== 'none';
    const scratchBytes = wanted.diskMib * MIB;
    const { workspaces } = place;
    const openRoom = async (): Promise<OpenRoom> => {
      await using opened = new AsyncDisposableStack();
      const room = opened.use(
        await Room.open({ clock, programs, system, sandboxId, workspaces, scratchBytes, owner, hasNetwork }),
      );
      if (hasNetwork) opened.use(await this.#openNetwork(spec, room));
      const held = opened.move();
      return { room, close: () => held.disposeAsync() };
    };
    const group = branches.length > 0 ? ControlGroup.make(branches, sandboxId, wanted, clock) : undefined;
    const sandbox = new BubblewrapSandbox({
      ...this.#parts,
      spec,
      place,
      openRoom,
      group,
      rlimits,
      limits: inForce,
      networkVariables: hasNetwork ? PROXY_VARIABLES : {},
      onEnd() {
        if (owner) uids?.giveBack(owner);
      },
    });
    await sandbox.resume();
    return sandbox;
  }

  async #openNetwork({ sandboxId, network }: SandboxSpec, room: Room): Promise<Disposable> {
    const { clock, outside, log } = this.#parts;
    const { mode, allowedHosts } = network;
    if (mode !== 'limited') throw new Error(`there is no network of the mode ${mode}`);
    return openLimitedNetwork({
      room,
      allowedHosts,
      outside,
      clock,
      onRefusal: (host, port, reason) =>
        log.info({ sandbox_id: sandboxId, host, port, reason }, 'a sandbox was not let out'),
    });
  }

  /** A runner that was killed takes its commands with it, but its control groups stay. */
  async #endLeftovers(sandboxId: string): Promise<void> {
    const { branches, clock } = this.#parts;
    await ControlGroup.find(branches, sandboxId, clock).remove();
  }
}

/** Writes the filter to where each command reads it. */
export function keepFilter(directory: string, filter: Uint8Array): string {
  const path = join(directory, 'filter');
  writeFileSync(path, filter, { mode: 0o600 });
  return path;
}
