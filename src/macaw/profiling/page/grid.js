// A table of any number of rows, of which only those in view are elements.
const ROW = 25, TALLEST = 8e6; // pixels of a row; pixels of an element at most

class Grid {
  /** `columns` are [name, title, isText]; `rowOf(place)` makes the cells of a row. */
  constructor(container, { rows, columns, rowOf, open, sort = null, prefix }) {
    Object.assign(this, { container, rows, rowOf, prefix, open, count: 0, first: 0, active: 0 });
    this.head = element("tr");
    this.body = element("tbody");
    for (const [name, title, isText] of columns) {
      const head = element("th", isText ? "name" : "", sort ? "" : title);
      if (sort) head.append(button(title, () => sort(name), `sort by ${title}`));
      head.scope = "col";
      head.dataset.column = name;
      this.head.append(head);
    }
    this.table = element("table", "", "", element("thead", "", "", this.head), this.body);
    this.table.setAttribute("role", "grid");
    this.table.setAttribute("aria-label", container.dataset.label);
    this.table.setAttribute("aria-colcount", columns.length);
    this.space = element("div", "space", "", this.table);
    container.append(this.space);
    container.style.height = `${ROW * (rows + 1) + 4}px`;
    container.addEventListener("scroll", () => this.scrolled());
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (!row) return;
      this.activate(Number(row.dataset.place));
      this.open();
    });
  }
  get lastFirst() { return Math.max(this.count - this.rows, 0); } // the first row of the last page
  get isSqueezed() { return this.count * ROW > TALLEST; }
  get room() { return Math.max(this.space.offsetHeight - this.container.clientHeight, 1); }
  /** Show another number of rows, from the first one on. */
  fill(count) {
    this.count = count;
    const tall = Math.min(Math.max(count * ROW, this.rows * ROW), TALLEST);
    this.space.style.height = `${ROW + 2 + tall}px`;
    this.table.setAttribute("aria-rowcount", count + 1);
    this.activate(0);
  }
  scrolled() {
    const top = this.container.scrollTop;
    const first = this.isSqueezed ? Math.round(top / this.room * this.lastFirst) : Math.min(Math.floor(top / ROW + 0.5), this.lastFirst);
    if (Math.abs(first - this.first) > (this.isSqueezed ? this.lastFirst / this.room : 0)) this.draw(first);
  }
  /** Make a row the active one, and scroll to it. */
  activate(place) {
    this.active = Math.min(Math.max(place, 0), Math.max(this.count - 1, 0));
    this.draw(Math.min(Math.max(this.first, this.active - this.rows + 1), this.active, this.lastFirst));
    this.container.scrollTop = this.isSqueezed ? this.first / this.lastFirst * this.room : this.first * ROW;
  }
  draw(first = this.first) {
    this.first = first;
    const rows = [];
    for (let place = first; place < Math.min(first + this.rows, this.count); place++) {
      const row = element("tr", "", "", ...this.rowOf(place));
      row.id = `${this.prefix}-${place}`;
      row.dataset.place = place;
      row.setAttribute("role", "row");
      row.setAttribute("aria-rowindex", place + 2);
      row.setAttribute("aria-selected", String(place === this.active));
      for (const cell of row.children) cell.setAttribute("role", "gridcell");
      rows.push(row);
    }
    this.body.replaceChildren(...rows);
    if (this.count) this.container.setAttribute("aria-activedescendant", `${this.prefix}-${this.active}`);
    else this.container.removeAttribute("aria-activedescendant");
  }
}
