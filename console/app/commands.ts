import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Bot, type LucideIcon, MessagesSquare, Moon, Sun, Webhook } from 'lucide-react';
import { useDeferredValue } from 'react';
import { agents } from '../api/agents.ts';
import { sessions } from '../api/sessions.ts';
import { triggers } from '../api/triggers.ts';
import { useViewer } from '../parts/people/viewer.ts';
import { placesFor } from './navigation.ts';
import { chooseTheme } from './theme.ts';

export interface Command {
  id: string;
  icon: LucideIcon;
  text: string;
  /** What tells it from others of that name. */
  aside: string;
  run: () => void;
}

interface CommandGroup {
  value: string;
  items: Command[];
}

/** Of each kind. */
const FOUND = 6;
const SESSION_ID = /^ses_[0-9A-Z]{26}$/;
const AGENT_ID = /^agt_[0-9A-Z]{26}$/;

/** What can be done about a text: pages and actions by name, and whatever the service finds by it. */
export function useCommands(text: string): { groups: CommandGroup[]; isSearching: boolean } {
  const q = useDeferredValue(text.trim());
  const navigate = useNavigate();
  const viewer = useViewer();
  const enabled = q.length > 0;
  const foundAgents = useInfiniteQuery({ ...agents.list(q), enabled });
  const foundSessions = useInfiniteQuery({ ...sessions.list({ q }), enabled, refetchInterval: false });
  const foundTriggers = useInfiniteQuery({ ...triggers.list({ q }), enabled });
  const first = <Item>(query: { data?: { pages: { items: Item[] }[] } | undefined }) =>
    enabled ? (query.data?.pages[0]?.items.slice(0, FOUND) ?? []) : [];

  const toAgent = (agentId: string) => void navigate({ to: '/agents/$agentId', params: { agentId } });
  const toSession = (sessionId: string) =>
    void navigate({ to: '/sessions/$sessionId', params: { sessionId } });

  const actions: Command[] = [
    ...placesFor(viewer).map(({ to, text: name, icon, key }) => ({
      id: to,
      icon,
      text: name,
      aside: `g ${key}`,
      run: () => void navigate({ to }),
    })),
    {
      id: 'new-agent',
      icon: Bot,
      text: 'New agent',
      aside: '',
      run: () => void navigate({ to: '/agents/new' }),
    },
    {
      id: 'new-trigger',
      icon: Webhook,
      text: 'New trigger',
      aside: '',
      run: () => void navigate({ to: '/triggers/new' }),
    },
    { id: 'light', icon: Sun, text: 'Light theme', aside: '', run: () => chooseTheme('light') },
    { id: 'dark', icon: Moon, text: 'Dark theme', aside: '', run: () => chooseTheme('dark') },
  ];
  const ids: Command[] = [];
  if (SESSION_ID.test(q))
    ids.push({ id: q, icon: MessagesSquare, text: 'Open the session', aside: q, run: () => toSession(q) });
  if (AGENT_ID.test(q))
    ids.push({ id: q, icon: Bot, text: 'Open the agent', aside: q, run: () => toAgent(q) });

  const lower = q.toLowerCase();
  const groups: CommandGroup[] = [
    { value: 'By id', items: ids },
    { value: 'Go to', items: actions.filter((one) => one.text.toLowerCase().includes(lower)) },
    {
      value: 'Agents',
      items: first(foundAgents).map(({ agent_id: id, name }) => ({
        id,
        icon: Bot,
        text: name,
        aside: id,
        run: () => toAgent(id),
      })),
    },
    {
      value: 'Sessions',
      items: first(foundSessions).map(({ session_id: id, title }) => ({
        id,
        icon: MessagesSquare,
        text: title ?? 'Untitled',
        aside: id,
        run: () => toSession(id),
      })),
    },
    {
      value: 'Triggers',
      items: first(foundTriggers).map(({ deployment_id: id, agent_id: agentId, agent_name: name }) => ({
        id,
        icon: Webhook,
        text: name ?? 'Agent that is gone',
        aside: id,
        run: () =>
          void navigate({ to: '/triggers/$agentId/$deploymentId', params: { agentId, deploymentId: id } }),
      })),
    },
  ];
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    isSearching: [foundAgents, foundSessions, foundTriggers].some(({ isFetching }) => isFetching),
  };
}
