import { INTERACTIVE } from './create.ts';

/** The ready turns of one owner, agent and priority. */
export interface ReadyTurns {
  priority: number;
  ownerId: string;
  agentId: string;
  /** Counted up to a limit above an equal share of the slots. */
  turns: number;
  /** Turns of the agent that may start, of all owners together. */
  free: number;
}

/** Turns of one owner, agent and priority to be started. */
export interface Share extends ReadyTurns {
  /** The slots that these turns get. */
  turns: number;
}

interface FairPick {
  /** In the order in which they were given out. */
  shares: Share[];
  credit: number;
  /** The owner of each priority that got the last slot. */
  lastOwner: Map<number, string>;
  /** More turns could start than there were slots for. */
  isCut: boolean;
}

/** Reserved part of a slot per interactive turn that goes first. With 1/4, triggered turns get one slot of five. */
const CREDIT_PER_INTERACTIVE_TURN = 0.25;

/**
 * Divides slots among ready turns. Owners take turns, and so do the agents of an owner, in the order of `ready`.
 * Interactive turns go first, but 20 % of the slots are reserved for triggered turns while both wait. `credit` carries
 * the reserved part of a slot from one pick to the next, because most picks have a single slot.
 */
export function fairPick(ready: readonly ReadyTurns[], slots: number, credit: number): FairPick {
  const free = new Map(ready.map((one) => [one.agentId, Math.max(0, one.free)]));
  const rotationOf = (isIncluded: (priority: number) => boolean) =>
    new Rotation(
      ready.filter((one) => isIncluded(one.priority)),
      free,
    );
  const interactive = rotationOf((priority) => priority === INTERACTIVE);
  const triggered = rotationOf((priority) => priority !== INTERACTIVE);
  const shares = new Map<ReadyTurns, Share>();
  const lastOwner = new Map<number, string>();
  let left = slots;
  for (; left > 0; left--) {
    const bothWait = interactive.isWaiting && triggered.isWaiting;
    const reserved = bothWait && credit >= 1;
    if (bothWait) credit += reserved ? -1 : CREDIT_PER_INTERACTIVE_TURN;
    const next = reserved ? triggered.next() : (interactive.next() ?? triggered.next());
    if (!next) break;
    const share = shares.get(next) ?? { ...next, turns: 0 };
    share.turns++;
    // The share that got the last slot comes last.
    shares.delete(next);
    shares.set(next, share);
    lastOwner.set(next.priority, next.ownerId);
  }
  const isCut = interactive.isWaiting || triggered.isWaiting;
  return { shares: [...shares.values()], credit, lastOwner, isCut };
}

interface WaitingOwner {
  ownerId: string;
  agents: { ready: ReadyTurns; left: number }[];
}

/** The turns of one priority. Each call of `next` returns another owner, and for an owner another agent. */
class Rotation {
  readonly #owners: WaitingOwner[] = [];
  /** Turns that each agent may still start; shared by all rotations. */
  readonly #free: Map<string, number>;

  constructor(ready: readonly ReadyTurns[], free: Map<string, number>) {
    this.#free = free;
    const owners = new Map<string, WaitingOwner>();
    for (const one of ready) {
      const owner = owners.get(one.ownerId) ?? { ownerId: one.ownerId, agents: [] };
      owner.agents.push({ ready: one, left: one.turns });
      owners.set(one.ownerId, owner);
    }
    this.#owners.push(...owners.values());
  }

  /** A turn of this priority can start. */
  get isWaiting(): boolean {
    for (;;) {
      const [owner] = this.#owners;
      if (!owner) return false;
      owner.agents = owner.agents.filter(({ ready, left }) => left > 0 && this.#freeOf(ready) > 0);
      if (owner.agents.length > 0) return true;
      this.#owners.shift();
    }
  }

  next(): ReadyTurns | undefined {
    if (!this.isWaiting) return undefined;
    const owner = this.#owners.shift();
    const agent = owner?.agents.shift();
    if (!owner || !agent) return undefined;
    agent.left--;
    this.#free.set(agent.ready.agentId, this.#freeOf(agent.ready) - 1);
    owner.agents.push(agent);
    this.#owners.push(owner);
    return agent.ready;
  }

  #freeOf({ agentId }: ReadyTurns): number {
    return this.#free.get(agentId) ?? 0;
  }
}
