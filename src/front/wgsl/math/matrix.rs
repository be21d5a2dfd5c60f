//! Functions on matrices, which are stored column by column.

use naga::TypeInner;

use super::shorthand::{add, mul, sub};
use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::Operand;

/// Columns and rows; a vector is one column.
pub fn dimensions(shape: &TypeInner) -> (usize, usize) {
    match *shape {
        TypeInner::Matrix { columns, rows, .. } => (columns as usize, rows as usize),
        TypeInner::Vector { size, .. } => (1, size as usize),
        _ => (1, 1),
    }
}

pub fn transpose(shape: &TypeInner, x: &Components) -> Components {
    let (columns, rows) = dimensions(shape);
    (0..rows)
        .flat_map(|row| (0..columns).map(move |column| x[column * rows + row]))
        .collect()
}

/// Of a square matrix: expanded along the first column.
pub fn determinant(b: &mut Builder, shape: &TypeInner, x: &Components) -> Operand {
    let (_, rows) = dimensions(shape);
    let all: Vec<usize> = (0..rows).collect();
    minor(b, x, 0, &all, rows)
}

/// The determinant of the columns from `column` on, of the rows in `rows` only.
fn minor(b: &mut Builder, x: &Components, column: usize, rows: &[usize], height: usize) -> Operand {
    let entry = |row: usize| x[column * height + row];
    if let [row] = rows {
        return entry(*row);
    }
    let mut sum = None;
    for (at, &row) in rows.iter().enumerate() {
        let others: Vec<usize> = rows.iter().copied().filter(|&r| r != row).collect();
        let below = minor(b, x, column + 1, &others, height);
        let term = mul(b, entry(row), below);
        sum = Some(match sum {
            None => term,
            Some(sum) if at % 2 == 0 => add(b, sum, term),
            Some(sum) => sub(b, sum, term),
        });
    }
    sum.expect("a matrix has rows")
}
