// Adds properties to built-in objects. They are not enumerable, and a script can replace them.

type Values = Readonly<Record<PropertyKey, unknown>>;

export function define(target: object, values: Values): void {
  for (const name of Reflect.ownKeys(values)) {
    Object.defineProperty(target, name, {
      value: values[name],
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}

/** Adds only properties that Node does not have. */
export function defineMissing(target: object, values: Values): void {
  define(target, Object.fromEntries(Object.entries(values).filter(([name]) => !(name in target))));
}

/** Defines a getter that replaces itself with the value on first use. */
export function defineLazily(target: object, name: string, load: () => unknown): void {
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: false,
    get() {
      const value = load();
      define(target, { [name]: value });
      return value;
    },
    set(value: unknown) {
      define(target, { [name]: value });
    },
  });
}
