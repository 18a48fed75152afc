/** Whether the platform uses ⌘ in place of Ctrl. */
export const isMac = () => /mac|iphone|ipad/i.test(navigator.userAgent);
