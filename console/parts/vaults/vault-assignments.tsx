import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { type VaultTarget, vaults } from '../../api/vaults.ts';
import type { VaultAssignments as Assignments } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { ErrorAlert, ErrorState } from '../errors/error-state.tsx';
import { useQueryFailure } from '../errors/use-query-failure.ts';
import { TextLink } from '../navigation/links.tsx';
import { useList } from '../resources/list.tsx';
import { useViewer } from '../users/viewer.ts';

interface VaultAssignmentsProps {
  target: VaultTarget;
  /** API path of the assignments, below /api/v1. */
  path: string;
}

/** The vaults of an agent or assistant. Only administrators can change them; a change is saved immediately. */
export function VaultAssignments({ target, path }: VaultAssignmentsProps) {
  const query = useQuery(vaults.assignments(target));
  const failure = useQueryFailure(query);
  const { isAdministrator } = useViewer();
  const curlOf = useCurl();
  return (
    <section aria-labelledby="assigned-vaults" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div>
          <h2 id="assigned-vaults" className="font-semibold">
            Vaults
          </h2>
          <p className="text-[13px] text-muted">
            Credentials count in this order: the first match is used.
            {!isAdministrator && ' Only administrators can change the vaults.'}
          </p>
        </div>
        <CopyCurl path={path} />
      </div>
      {query.data !== undefined ? (
        <AssignedVaults target={target} assignments={query.data} isReadOnly={!isAdministrator} />
      ) : failure ? (
        <ErrorState {...failure} curl={curlOf({ path })} />
      ) : (
        <Skeleton lines={3} />
      )}
    </section>
  );
}

interface AssignedVaultsProps {
  target: VaultTarget;
  assignments: Assignments;
  isReadOnly: boolean;
}

function AssignedVaults({ target, assignments, isReadOnly }: AssignedVaultsProps) {
  const queries = useQueryClient();
  const { queryKey } = vaults.assignments(target);
  const { mutate, isPending, error } = useMutation({
    // A read that is under way would overwrite the result of the change.
    onMutate: () => queries.cancelQueries({ queryKey }),
    mutationFn: (vaultIds: string[]) => vaults.assign(target, assignments.revision, vaultIds),
    onSuccess: (changed) => queries.setQueryData(queryKey, changed),
    // Not awaited: the next change is possible as soon as this one is shown.
    onSettled: () => void queries.invalidateQueries({ queryKey: ['vaults'] }),
  });
  const { vault_ids: ids } = assignments;
  const change = (vaultIds: string[]) => {
    if (!isPending) mutate(vaultIds);
  };
  return (
    <>
      <Card>
        {assignments.vaults.length === 0 && <p className="p-4 text-muted">No vaults are assigned.</p>}
        <ol aria-label="Assigned vaults">
          {assignments.vaults.map(({ vault_id: vaultId, name, enabled }, index) => (
            <li
              key={vaultId}
              className="flex items-center gap-2 border-b border-line px-4 py-2 last:border-b-0"
            >
              <span className="w-5 text-muted tabular-nums" aria-hidden>
                {index + 1}
              </span>
              <span className="min-w-0 flex-1 wrap-anywhere">
                {isReadOnly ? (
                  name
                ) : (
                  <TextLink to="/vaults/$vaultId" params={{ vaultId }}>
                    {name}
                  </TextLink>
                )}
              </span>
              {!enabled && <Badge>disabled</Badge>}
              {!isReadOnly && (
                <>
                  <IconButton
                    label={`Move ${name} up`}
                    icon={<ArrowUp />}
                    disabled={index === 0}
                    onClick={() => change(swapped(ids, index - 1))}
                  />
                  <IconButton
                    label={`Move ${name} down`}
                    icon={<ArrowDown />}
                    disabled={index === ids.length - 1}
                    onClick={() => change(swapped(ids, index))}
                  />
                  <IconButton
                    label={`Remove ${name}`}
                    icon={<X />}
                    onClick={() => change(ids.filter((id) => id !== vaultId))}
                  />
                </>
              )}
            </li>
          ))}
        </ol>
      </Card>
      {!isReadOnly && <AddVault assigned={ids} isBusy={isPending} onAdd={(id) => change([...ids, id])} />}
      <ErrorAlert error={error} />
    </>
  );
}

/** Exchanges an entry with the next one. */
function swapped(ids: readonly string[], index: number): string[] {
  const [first = '', second = ''] = ids.slice(index, index + 2);
  return ids.toSpliced(index, 2, second, first);
}

interface AddVaultProps {
  assigned: readonly string[];
  isBusy: boolean;
  onAdd: (vaultId: string) => void;
}

function AddVault({ assigned, isBusy, onAdd }: AddVaultProps) {
  const { items } = useList(vaults.list(undefined, 'shared'));
  const options = items
    .filter(({ vault_id: id }) => !assigned.includes(id))
    .map(({ vault_id: value, name: text }) => ({ value, text }));
  const [chosen, setChosen] = useState('');
  const value = options.some((option) => option.value === chosen) ? chosen : (options[0]?.value ?? '');
  if (value === '') return <p className="text-[13px] text-muted">There is no other shared vault.</p>;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select
        label="Vault to add"
        value={value}
        options={options}
        onChange={setChosen}
        className="min-w-48 max-w-full"
      />
      <Button busy={isBusy} onClick={() => onAdd(value)}>
        <Plus aria-hidden />
        Add vault
      </Button>
    </div>
  );
}
