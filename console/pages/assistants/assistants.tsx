import { getRouteApi } from '@tanstack/react-router';
import { Plus, UserRound } from 'lucide-react';
import { assistants } from '../../api/assistants.ts';
import type { Assistant } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { Catalogue } from '../../parts/lists/catalogue.tsx';
import { useList } from '../../parts/lists/list.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { useShortcut } from '../../parts/shortcuts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/time.tsx';

const route = getRouteApi('/assistants');

const COLUMNS: readonly Column<Assistant>[] = [
  { name: 'Name', className: 'w-[42%]', cell: (assistant) => <Name assistant={assistant} /> },
  { name: 'Model', cell: ({ model }) => <Cut text={model} mono /> },
  { name: 'State', className: 'w-28', cell: (assistant) => <State assistant={assistant} /> },
  { name: 'Changed', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function AssistantsPage() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(assistants.list(q));
  useShortcut('n', 'New assistant', () => void navigate({ to: '/assistants/new' }));
  return (
    <Catalogue
      title="Assistants"
      lead="Like agents, but yours alone, with one workspace that all of their sessions share."
      noun="assistants"
      q={q}
      onSearch={(words) => void navigate({ search: { q: words }, replace: true })}
      path="/assistants"
      list={list}
      keyOf={({ assistant_id: id }) => id}
      columns={COLUMNS}
      card={(assistant) => <AssistantCard assistant={assistant} />}
      create={
        <ButtonLink to="/assistants/new" look="primary">
          <Plus aria-hidden />
          New assistant
        </ButtonLink>
      }
      all={
        <ButtonLink to="/assistants" search={{}}>
          Show all
        </ButtonLink>
      }
      none={<None />}
    />
  );
}

interface AssistantProps {
  assistant: Assistant;
}

function Name({ assistant: { assistant_id: assistantId, name, description } }: AssistantProps) {
  return (
    <TextLink to="/assistants/$assistantId" params={{ assistantId }} className="block">
      <Cut text={name} />
      {description && <Cut text={description} className="text-xs font-normal text-muted" />}
    </TextLink>
  );
}

function State({ assistant: { enabled } }: AssistantProps) {
  return enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>;
}

function AssistantCard({ assistant }: AssistantProps) {
  return (
    <div className="flex flex-col gap-1.5">
      <Name assistant={assistant} />
      <Cut text={assistant.model} mono className="text-muted" />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <State assistant={assistant} />
        <Time at={assistant.updated_at} />
      </div>
    </div>
  );
}

function None() {
  const curlOf = useCurl();
  const create = (
    <ButtonLink to="/assistants/new" look="primary">
      Create your first assistant
    </ButtonLink>
  );
  const body = { name: 'Desk', model: 'rehearsal/shell' };
  return (
    <Empty icon={<UserRound />} action={create} curl={curlOf({ method: 'POST', path: '/assistants', body })}>
      There is no assistant yet: create one to keep files from one conversation to the next.
    </Empty>
  );
}
