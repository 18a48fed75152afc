import type { ReactNode } from 'react';
import { classes } from './classes.ts';

export interface Column {
  text: string;
  /** Its width, and from which width of the page on it is there. */
  className?: string;
  /** Its name is for screen readers alone. */
  quiet?: boolean;
}

export interface TableProps {
  /** What it lists. */
  label: string;
  columns: readonly Column[];
  children: ReactNode;
}

/** Rows of things that are alike. What is too long for its column is cut. */
export function Table({ label, columns, children }: TableProps) {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <table className="w-full table-fixed" aria-label={label}>
        <thead>
          <tr className="border-b border-line text-start text-[13px] text-muted">
            {columns.map(({ text, className, quiet }) => (
              <th
                key={text}
                scope="col"
                className={classes('px-3 py-2 text-start font-medium first:ps-4 last:pe-4', className)}
              >
                <span className={quiet ? 'sr-only' : undefined}>{text}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function Row({ children }: { children: ReactNode }) {
  return <tr className="border-b border-line last:border-0 hover:bg-canvas">{children}</tr>;
}

export interface CellProps {
  /** The same as of its column, for where that one is left out. */
  className?: string | undefined;
  /** The whole text, for when it is cut. */
  title?: string | undefined;
  children: ReactNode;
}

export function Cell({ className, title, children }: CellProps) {
  return (
    <td className={classes('px-3 py-2.5 first:ps-4 last:pe-4', className)} title={title}>
      <div className="truncate" dir="auto">
        {children}
      </div>
    </td>
  );
}
