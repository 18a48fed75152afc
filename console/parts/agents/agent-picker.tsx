import { Combobox } from '@base-ui/react/combobox';
import { Check, ChevronDown, Search, X } from 'lucide-react';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { classes } from '../../ui/classes.ts';
import { messageOf } from '../errors/error-state.tsx';
import { useList, useLoadMore } from '../resources/list.tsx';

/** More pages are loaded until at least this many options match. It fills the popup. */
const MIN_OPTIONS = 8;
type PickedAgent = Pick<Agent, 'agent_id' | 'name'>;

export interface AgentPickerProps {
  value: PickedAgent | null;
  onChange: (agent: Agent | null) => void;
  /** Accessible name outside of a Field. With a label the selection can be cleared. */
  label?: string;
  placeholder?: string;
  /** Only agents that the viewer may change. */
  managed?: boolean;
}

/**
 * Selects an agent by name from a list of any length. Inside a Field it is labelled by the Field. The search input is inside
 * the popup: an input in the page itself would hide the rest of the page from screen readers.
 */
export function AgentPicker({
  value,
  onChange,
  label,
  placeholder = 'Choose an agent',
  managed = false,
}: AgentPickerProps) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [text, setText] = useState('');
  const { query, items } = useList(agents.list(useDeferredValue(text.trim()) || undefined));
  const found = managed ? items.filter(({ access }) => access === 'manage') : items;
  // None of the loaded agents may be manageable by the viewer.
  const loadMore = useLoadMore(query);
  const isShort = found.length < MIN_OPTIONS;
  useEffect(() => {
    if (isShort) loadMore();
  }, [isShort, loadMore]);
  const isClearable = label !== undefined && value !== null;
  return (
    <Combobox.Root<PickedAgent>
      items={found}
      filter={null}
      value={value}
      onValueChange={(chosen) => onChange(found.find(({ agent_id: id }) => id === chosen?.agent_id) ?? null)}
      inputValue={text}
      onInputValueChange={setText}
      itemToStringLabel={({ name }) => name}
      itemToStringValue={({ agent_id: id }) => id}
      isItemEqualToValue={(a, b) => a.agent_id === b.agent_id}
    >
      <div className="relative flex items-center">
        <Combobox.Trigger
          ref={trigger}
          aria-label={label}
          className={classes(
            'flex h-9 w-full items-center rounded-lg border border-line bg-surface ps-3 pe-9 text-start hover:bg-sunken data-invalid:border-bad',
            !value && 'text-muted',
          )}
        >
          <span className="truncate" dir="auto">
            {value?.name ?? placeholder}
          </span>
          {!isClearable && <ChevronDown className="absolute end-3 size-4 text-muted" aria-hidden />}
        </Combobox.Trigger>
        {isClearable && (
          <button
            type="button"
            aria-label={`${label}: any`}
            className="absolute end-1 flex size-7 items-center justify-center rounded-md text-muted hover:bg-sunken"
            onClick={() => {
              onChange(null);
              trigger.current?.focus();
            }}
          >
            <X className="size-4" aria-hidden />
          </button>
        )}
      </div>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={6} className="z-50">
          <Combobox.Popup
            aria-label="Agents"
            className="flex max-h-80 w-(--anchor-width) min-w-64 animate-appear flex-col rounded-xl border border-line bg-raised shadow-float"
          >
            <div className="relative flex items-center border-b border-line">
              <Search className="pointer-events-none absolute start-3 size-4 text-muted" aria-hidden />
              <Combobox.Input
                aria-label="Search agents by name"
                aria-labelledby={undefined}
                placeholder="Search by name"
                dir="auto"
                className="h-10 w-full rounded-t-xl bg-transparent ps-9 pe-3 outline-none"
              />
            </div>
            <Combobox.Empty className="text-muted">
              <span className="block px-3.5 py-3">
                {query.isFetching
                  ? 'Searching…'
                  : query.isError
                    ? messageOf(query.error)
                    : 'No matching agents.'}
              </span>
            </Combobox.Empty>
            <Combobox.List aria-label="Agents" className="min-h-0 overflow-y-auto p-1 empty:p-0">
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
