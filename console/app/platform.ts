/** Where ⌘ is what Ctrl is elsewhere. */
export const isMac = () => /mac|iphone|ipad/i.test(navigator.userAgent);
