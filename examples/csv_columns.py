"""CSV files: columns by name, with dtypes inferred, and rows that are broken left out and counted.

    python examples/csv_columns.py
"""

import pathlib
import tempfile

import infeed


def main(folder):
    path = folder / "houses.csv"
    rows = "".join(f"{60 + i},{1 + i % 4},\"{'north' if i % 2 else 'south'}, {i}\",{100000 + 1500 * i}\n" for i in range(300))
    path.write_text("area,rooms,place,price\n" + rows)
    dataset = infeed.make_csv_dataset(str(path), batch_size=32, label_name="price", num_epochs=1, shuffle_seed=3)
    for columns, price in dataset.take(1):
        print({name: (values.dtype.name, values[0]) for name, values in columns.items()}, price.dtype)

    path.write_text("area,rooms,place,price\n" + rows + "oops\n")
    columns = [("int32", 0), ("float32", 3)]  # dtype, and number of the column
    checked = infeed.CsvDataset(path, [dtype for dtype, _ in columns], header=True, select_cols=[i for _, i in columns], errors="skip")
    walk = iter(checked.batch(64))
    total = sum(len(price) for _, price in walk)
    print(f"{total} rows, {walk.stats().lost} left out: {walk.stats().places}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(pathlib.Path(made))
