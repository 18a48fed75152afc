import { getRouteApi } from '@tanstack/react-router';
import { Plus, UserRound } from 'lucide-react';
import { assistants } from '../../api/assistants.ts';
import type { Assistant } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { useShortcut } from '../../parts/navigation/shortcuts.ts';
import { Catalogue } from '../../parts/resources/catalogue.tsx';
import { useList } from '../../parts/resources/list.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { Badge } from '../../ui/badge.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';

const route = getRouteApi('/assistants');

const COLUMNS: readonly Column<Assistant>[] = [
  { name: 'Name', className: 'w-[42%]', cell: (assistant) => <AssistantCell assistant={assistant} /> },
  { name: 'Model', cell: ({ model }) => <TruncatedText text={model} mono /> },
  { name: 'State', className: 'w-28', cell: (assistant) => <AssistantState assistant={assistant} /> },
  { name: 'Updated', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function AssistantsPage() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(assistants.list(q));
  useShortcut('n', 'New assistant', () => void navigate({ to: '/assistants/new' }));
  return (
    <Catalogue
      title="Assistants"
      lead="Personal agents. All sessions of an assistant share one workspace."
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
      none={<NoAssistants />}
    />
  );
}

interface AssistantProps {
  assistant: Assistant;
}

function AssistantCell({ assistant: { assistant_id: assistantId, name, description } }: AssistantProps) {
  return (
    <TextLink to="/assistants/$assistantId" params={{ assistantId }} className="block">
      <TruncatedText text={name} />
      {description && <TruncatedText text={description} className="text-xs font-normal text-muted" />}
    </TextLink>
  );
}

function AssistantState({ assistant: { enabled } }: AssistantProps) {
  return enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>;
}

function AssistantCard({ assistant }: AssistantProps) {
  return (
    <div className="flex flex-col gap-1.5">
      <AssistantCell assistant={assistant} />
      <TruncatedText text={assistant.model} mono className="text-muted" />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <AssistantState assistant={assistant} />
        <Time at={assistant.updated_at} />
      </div>
    </div>
  );
}

function NoAssistants() {
  const curlOf = useCurl();
  const create = (
    <ButtonLink to="/assistants/new" look="primary">
      Create your first assistant
    </ButtonLink>
  );
  const body = { name: 'Desk', model: 'rehearsal/shell' };
  return (
    <EmptyState
      icon={<UserRound />}
      action={create}
      curl={curlOf({ method: 'POST', path: '/assistants', body })}
    >
      No assistants yet. An assistant keeps its files between conversations.
    </EmptyState>
  );
}
