import { useState } from 'react';
import type { AgentDraft } from './agent-draft.ts';
import { type ClientToolDraft, rowPointer } from './client-tools.ts';
import { type FieldProblems, problemAt } from './problems.ts';

export interface ToolProblems {
  /** The errors of the permissions. */
  permissions: string | undefined;
  /** Returns the errors of a field of a client tool. */
  ofRow(row: ClientToolDraft, field: 'name' | 'description' | 'input_schema'): string | undefined;
  hasRowProblems: boolean;
}

/**
 * Assigns validation errors to the permissions and to the client tools. The service names a tool by its position in the
 * request, so the positions are kept while its errors are shown: the user can add and remove tools in the meantime.
 */
export function useToolProblems(draft: AgentDraft, problems: FieldProblems): ToolProblems {
  const reported = Object.entries(problems).filter(([pointer]) => /^\/tools(\/|$)/.test(pointer));
  const key = JSON.stringify(reported);
  const [kept, setKept] = useState({ key, positions: positionsOf(draft) });
  const { positions } = kept.key === key ? kept : { positions: positionsOf(draft) };
  if (kept.key !== key) setKept({ key, positions });
  const isOfRow = (pointer: string) => Number(pointer.split('/')[2] ?? -1) >= positions.first;
  const ofPermissions = reported.filter(([pointer]) => !isOfRow(pointer));
  return {
    permissions: problemAt(Object.fromEntries(ofPermissions), '/tools'),
    ofRow(row, field) {
      const index = positions.rowIds.indexOf(row.rowId);
      const local = problemAt(problems, `${rowPointer(row)}/${field}`);
      return (
        local ?? (index < 0 ? undefined : problemAt(problems, `/tools/${positions.first + index}/${field}`))
      );
    },
    hasRowProblems:
      ofPermissions.length < reported.length ||
      draft.clientTools.some((row) => problemAt(problems, rowPointer(row)) !== undefined),
  };
}

/** Positions of the client tools in the request. */
function positionsOf({ tools, clientTools }: AgentDraft): { first: number; rowIds: number[] } {
  return { first: Object.keys(tools).length, rowIds: clientTools.map(({ rowId }) => rowId) };
}
