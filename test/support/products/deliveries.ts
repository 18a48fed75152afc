import type { Clock } from '../../../lib/clock.ts';
import type { FaultPlan } from './faults.ts';

/** A held delivery leaves after this time when no other of its key follows. */
const HOLD_MS = 40;

export interface DeliveryQueue<T> {
  /** Sends a delivery, perhaps twice or after the next one of the same key, as the plan decides. */
  add(key: string, delivery: T): void;
  /** Cancels the timers of held deliveries. */
  close(): void;
}

/** Duplicates and reorders deliveries of a protocol server as a fault plan decides. */
export function createDeliveryQueue<T>(
  plan: FaultPlan,
  clock: Clock,
  send: (delivery: T) => void,
): DeliveryQueue<T> {
  const held = new Map<string, { leave: () => void; cancel: () => void }>();

  function release(key: string): void {
    const waiting = held.get(key);
    held.delete(key);
    waiting?.cancel();
    waiting?.leave();
  }

  return {
    add(key, delivery) {
      const { copies, isHeld } = plan.forDelivery(key);
      const leave = () => {
        for (let copy = 0; copy < copies; copy++) send(delivery);
      };
      if (isHeld && !held.has(key)) {
        held.set(key, { leave, cancel: clock.after(HOLD_MS, () => release(key)) });
        return;
      }
      leave();
      release(key);
    },
    close() {
      for (const { cancel } of held.values()) cancel();
      held.clear();
    },
  };
}
