import { Combobox } from '@base-ui/react/combobox';
import { Check, ChevronDown, X } from 'lucide-react';
import { useDeferredValue, useEffect, useState } from 'react';
import { agents } from '../api/agents.ts';
import type { Agent } from '../gen/index.ts';
import { messageOf } from './faults/failure.tsx';
import { useList, useNextPage } from './lists/list.tsx';

/** As many to choose from as one sees at once, as far as there are. */
const FEW = 8;
const BUTTON = 'absolute end-1 flex size-7 items-center justify-center rounded-md text-muted hover:bg-sunken';

type Picked = Pick<Agent, 'agent_id' | 'name'>;

export interface AgentPickerProps {
  value: Picked | null;
  onChange: (agent: Agent | null) => void;
  /** Its name where it is in no Field; then it can be emptied, too. */
  label?: string;
  placeholder?: string;
  /** Only agents that the viewer may change. */
  managed?: boolean;
}

/** Finds an agent by name, of however many there are. Inside a Field it has that one's name. */
export function AgentPicker({
  value,
  onChange,
  label,
  placeholder = 'Search agents',
  managed = false,
}: AgentPickerProps) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  // What is chosen stands in the field: then it is not what is searched for.
  const { query, items } = useList(agents.list(q === value?.name ? undefined : q || undefined));
  const found = managed ? items.filter(({ access }) => access === 'manage') : items;
  // Of the first agents, all may be somebody else's.
  const readOn = useNextPage(query);
  const isShort = found.length < FEW;
  useEffect(() => {
    if (isShort) readOn();
  }, [isShort, readOn]);
  return (
    <Combobox.Root<Picked>
      items={found}
      filter={null}
      value={value}
      onValueChange={(chosen) => onChange(found.find(({ agent_id: id }) => id === chosen?.agent_id) ?? null)}
      onInputValueChange={setText}
      itemToStringLabel={({ name }) => name}
      itemToStringValue={({ agent_id: id }) => id}
      isItemEqualToValue={(a, b) => a.agent_id === b.agent_id}
    >
      <Combobox.InputGroup className="relative flex items-center">
        <Combobox.Input
          aria-label={label}
          placeholder={placeholder}
          dir="auto"
          className="h-9 w-full rounded-lg border border-line bg-surface ps-3 pe-9 hover:border-strong-line"
        />
        {label && value ? (
          <Combobox.Clear aria-label={`${label}: any`} className={BUTTON}>
            <X className="size-4" aria-hidden />
          </Combobox.Clear>
        ) : (
          <Combobox.Trigger aria-label="Show the agents" aria-labelledby={undefined} className={BUTTON}>
            <ChevronDown className="size-4" aria-hidden />
          </Combobox.Trigger>
        )}
      </Combobox.InputGroup>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={6} className="z-50">
          <Combobox.Popup className="max-h-72 w-(--anchor-width) animate-appear overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-float">
            <Combobox.Empty className="text-muted">
              <span className="block px-2.5 py-2">
                {query.isFetching
                  ? 'Searching'
                  : query.isError
                    ? messageOf(query.error)
                    : 'No agent has that name.'}
              </span>
            </Combobox.Empty>
            <Combobox.List>
              {(agent: Agent) => (
                <Combobox.Item
                  key={agent.agent_id}
                  value={agent}
                  className="flex cursor-pointer items-center gap-2 rounded-lg px-2.5 py-1.5 outline-none select-none data-highlighted:bg-sunken"
                >
                  <span className="min-w-0 flex-1 truncate" dir="auto">
                    {agent.name}
                  </span>
                  <span className="max-w-[45%] truncate font-mono text-xs text-muted">{agent.model}</span>
                  <Combobox.ItemIndicator>
                    <Check className="size-4 text-accent" aria-hidden />
                  </Combobox.ItemIndicator>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
