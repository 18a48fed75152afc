import type { Database } from '../../../lib/db/database.ts';
import { INTERACTIVE, TRIGGERED } from '../domain/create.ts';
import { fairPick, type ReadyTurns, type Share } from '../domain/fair-pick.ts';
import { type AgentPosition, readReadyTurns } from './ready-turns.ts';

/** Pages that one search reads when no turn of the earlier ones can start. */
const MAX_PAGES = 4;
/** Owners with turns of several agents whose position is known. The others begin with their first agent. */
const MAX_AGENT_POSITIONS = 100;

/** Beyond this, agents are forgotten, and their next turns start up to half a second later. */
const MAX_FULL_AGENTS = 1_000;

interface FairQueueContext {
  db: Pick<Database, 'rows'>;
  /** Turns of one agent that may be in progress at the same time. */
  maxTurnsPerAgent: number;
  /** Gets the agents with ready turns that cannot start because of the limit. */
  fullAgents: Set<string>;
}

/** Turns to be started, and whether there may be more. */
interface Shares {
  shares: Share[];
  isCut: boolean;
}

/**
 * Finds the turns that are to start next. The positions of the round robin are in memory, so each instance of the service
 * has its own.
 */
export class FairQueue {
  readonly #context: FairQueueContext;
  /** The owner that was served last, by priority. */
  readonly #owners = new Map([
    [INTERACTIVE, ''],
    [TRIGGERED, ''],
  ]);
  readonly #agents = new Map<string, AgentPosition>();
  #credit = 0;

  constructor(context: FairQueueContext) {
    this.#context = context;
  }

  /** Divides the slots among ready turns. Nothing is locked, so another instance may start the turns first. */
  async share(slots: number): Promise<Shares> {
    const { db, maxTurnsPerAgent } = this.#context;
    for (let page = 1; ; page++) {
      const { ready, isCut } = await readReadyTurns(db, this.#position(), slots, maxTurnsPerAgent);
      const pick = fairPick(ready, slots, this.#credit);
      this.#credit = pick.credit;
      this.#noteFullAgents(ready);
      this.#moveOwners(ready, pick.lastOwner);
      this.#moveAgents(ready, pick.shares);
      if (pick.shares.length > 0 || !isCut || page === MAX_PAGES)
        return { shares: pick.shares, isCut: isCut || pick.isCut };
    }
  }

  #noteFullAgents(ready: readonly ReadyTurns[]): void {
    const { fullAgents } = this.#context;
    if (fullAgents.size > MAX_FULL_AGENTS) fullAgents.clear();
    const waiting = new Map<string, number>();
    for (const { agentId, turns } of ready) waiting.set(agentId, (waiting.get(agentId) ?? 0) + turns);
    for (const { agentId, free } of ready) {
      // The pick may fill the agent.
      if (free <= (waiting.get(agentId) ?? 0)) fullAgents.add(agentId);
      else fullAgents.delete(agentId);
    }
  }

  #position() {
    return {
      interactive: this.#owners.get(INTERACTIVE) ?? '',
      triggered: this.#owners.get(TRIGGERED) ?? '',
      agents: [...this.#agents.values()],
    };
  }

  /**
   * The next search begins after the owner that was served last. When none was served, it begins after the owners of this
   * page if none of their turns could start, and at the same owner if there was no slot for them.
   */
  #moveOwners(ready: readonly ReadyTurns[], lastOwner: ReadonlyMap<number, string>): void {
    const startable = new Set(ready.filter(canStart).map(({ priority }) => priority));
    for (const { priority, ownerId } of ready) {
      // Later owners overwrite earlier ones.
      if (!startable.has(priority)) this.#owners.set(priority, ownerId);
    }
    for (const [priority, ownerId] of lastOwner) this.#owners.set(priority, ownerId);
  }

  /** Likewise for the agents of owners with several. */
  #moveAgents(ready: readonly ReadyTurns[], shares: readonly Share[]): void {
    const agents = new Map<string, ReadyTurns[]>();
    for (const one of ready) agents.set(keyOf(one), [...(agents.get(keyOf(one)) ?? []), one]);
    for (const [key, ofOwner] of agents) {
      const unserved = ofOwner.some(canStart) ? this.#agents.get(key) : ofOwner.at(-1);
      const last = shares.findLast((share) => keyOf(share) === key) ?? unserved;
      this.#agents.delete(key);
      if (!last || ofOwner.length === 1) continue;
      const { priority, ownerId, agentId } = last;
      this.#agents.set(key, { priority, ownerId, agentId });
    }
    for (const key of this.#agents.keys()) {
      if (this.#agents.size <= MAX_AGENT_POSITIONS) break;
      this.#agents.delete(key);
    }
  }
}

function canStart({ turns, free }: ReadyTurns): boolean {
  return turns > 0 && free > 0;
}

function keyOf({ priority, ownerId }: AgentPosition): string {
  return `${priority} ${ownerId}`;
}
