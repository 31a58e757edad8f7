/* SPDX-License-Identifier: BSD-2-Clause */
/* transport.h  How messages between ranks travel. Included by pcline.h and matcompact.h. */
#pragma once

#include <petscsys.h>

/*E
   RibbonTransport - how messages travel between ranks whose vectors are on devices

   Values:
+  RIBBON_TRANSPORT_AUTO - peer if the devices of all ranks reach each other, else NCCL, if the set-up
      measures that it is faster; otherwise MPI, staged if MPI does not take addresses of the device
.  RIBBON_TRANSPORT_MPI - MPI with addresses of the device, if PETSc says that MPI takes them
.  RIBBON_TRANSPORT_STAGED - MPI with copies in pinned host memory
.  RIBBON_TRANSPORT_NCCL - NCCL, on the stream of the kernels
-  RIBBON_TRANSPORT_PEER - kernels write into the memory of other devices of the host (CUDA)

   Level: beginner

.seealso: PCLineSetCutTransport(), MatCompactSetTransport()
E*/
typedef enum {
  RIBBON_TRANSPORT_AUTO,
  RIBBON_TRANSPORT_MPI,
  RIBBON_TRANSPORT_STAGED,
  RIBBON_TRANSPORT_NCCL,
  RIBBON_TRANSPORT_PEER
} RibbonTransport;
PETSC_EXTERN const char *const RibbonTransports[];
