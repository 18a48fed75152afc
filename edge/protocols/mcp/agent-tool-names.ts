const PREFIX = 'ask_';
const MAX_SLUG_CHARACTERS = 40;
const SUFFIX_CHARACTERS = 4;
/** The random characters of an id. */
const ID_CHARACTERS = 26;

interface NamedAgent {
  agentId: string;
  name: string;
}

/** The names of the tools of agents, by agent id: `ask_<slug>_<end of the id>`, each unique among these agents. */
export function agentToolNames(agents: readonly NamedAgent[]): Map<string, string> {
  const bySlug = Map.groupBy(agents, ({ name }) => slugOf(name));
  const names = new Map<string, string>();
  for (const [slug, same] of bySlug)
    for (const { agentId } of same) {
      const others = same.filter((other) => other.agentId !== agentId);
      names.set(agentId, `${PREFIX}${slug}_${uniqueEnd(agentId, others)}`);
    }
  return names;
}

function uniqueEnd(agentId: string, others: readonly NamedAgent[]): string {
  for (let characters = SUFFIX_CHARACTERS; characters < ID_CHARACTERS; characters++) {
    const end = endOf(agentId, characters);
    if (!others.some((other) => endOf(other.agentId, characters) === end)) return end;
  }
  return endOf(agentId, ID_CHARACTERS);
}

const endOf = (agentId: string, characters: number) => agentId.slice(-characters).toLowerCase();

/** The agent's name in lower case, with `_` for each character that is not in [a-z0-9]. */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]/gu, '_')
    .slice(0, MAX_SLUG_CHARACTERS);
}

/** A tool name that an agent can have. */
export interface AgentToolName {
  /** A part of the agent's name, in lower case. Empty if the name has no part that a search finds. */
  searchText: string;
  /** Whether the tool of the agent can have this name. More than one agent can if the name was listed before another one existed. */
  matches(agent: NamedAgent): boolean;
}

const NAME = /^ask_([a-z0-9_]{0,40})_([a-z0-9]{4,26})$/;

/** Undefined for the name of no agent's tool. */
export function parseAgentToolName(toolName: string): AgentToolName | undefined {
  const [, slug, end] = NAME.exec(toolName) ?? [];
  if (slug === undefined || end === undefined) return undefined;
  const parts = slug.split('_').toSorted((a, b) => b.length - a.length);
  return {
    searchText: parts[0] ?? '',
    matches: ({ agentId, name }) => slugOf(name) === slug && endOf(agentId, end.length) === end,
  };
}
