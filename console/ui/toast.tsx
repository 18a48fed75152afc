import { Toast as Base } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';

const manager = Base.createToastManager();

/** Shows a short notification that screen readers announce. */
export const toast = {
  done: (text: string) => void manager.add({ title: text, type: 'done' }),
  failed: (text: string, description?: string) =>
    void manager.add({
      title: text,
      type: 'failed',
      priority: 'high',
      ...(description ? { description } : {}),
    }),
};

/** Copies a text to the clipboard and reports the result as a toast. */
export async function copyText(text: string): Promise<void> {
  const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
  await written.then(
    () => toast.done('Copied to the clipboard.'),
    () => toast.failed('The browser blocked copying.'),
  );
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Base.Provider toastManager={manager} timeout={6_000}>
      {children}
      <Base.Portal>
        {/* Positioned where pages have no buttons. */}
        <Base.Viewport className="fixed start-4 top-14 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 md:top-auto md:bottom-4">
          <ToastList />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function ToastList() {
  const { toasts } = Base.useToastManager();
  return toasts.map((one) => (
    <Base.Root
      key={one.id}
      toast={one}
      className={classes(
        'flex animate-appear items-start gap-2 rounded-xl border bg-raised p-3 shadow-float',
        one.type === 'failed' ? 'border-bad' : 'border-line',
      )}
    >
      <Base.Content className="min-w-0 flex-1 wrap-anywhere">
        {/* Not a heading, because it does not structure the page. */}
        <Base.Title className="font-medium" render={<div />} />
        <Base.Description className="text-muted" />
      </Base.Content>
      <Base.Close aria-label="Dismiss" className="rounded text-muted hover:text-ink">
        <X className="size-4" aria-hidden />
      </Base.Close>
    </Base.Root>
  ));
}
